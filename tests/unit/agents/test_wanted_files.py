"""Files that a request asks to be written: an answer without them is sent back."""

from __future__ import annotations

import pytest

from cowork_jupyter.agents.run.answer_form import how_to_write, wanted_files
from cowork_jupyter.policy.rules import Effect, Scope
from tests.scripted import ScriptedServer, call, text

from .conftest import Bench


@pytest.mark.parametrize(
    ("request_text", "wanted"),
    [
        ("Write monthly.csv from sales.csv.", ("monthly.csv",)),
        ("Save sales.csv as out/plain.csv, with points.", ("out/plain.csv",)),
        ("Why is chart.png so small?", ()),
        ("Look at report.md, then write a word about it.", ()),
        ("Create a table.", ()),
        ("Write tidy.ipynb: x.to_csv('out/a.csv')", ("tidy.ipynb",)),
        ("Save it ('a.csv', \"./b.csv\").", ("./b.csv",)),
    ],
)
def test_files_behind_a_verb_of_writing_are_wanted(
    request_text: str, wanted: tuple[str, ...]
) -> None:
    assert wanted_files(request_text, {"sales.csv"}.__contains__) == wanted


@pytest.mark.parametrize(
    ("path", "call"),
    [
        ("out/weeks.csv", "table.to_csv('out/weeks.csv', index=False)"),
        ("bars.PNG", "fig.savefig('bars.PNG')"),
        ("tidy.ipynb", "nbformat.write(notebook, 'tidy.ipynb')"),
        ("notes.md", "Path('notes.md').write_text(text)"),
    ],
)
def test_each_kind_of_file_has_its_call(path: str, call: str) -> None:
    assert how_to_write(path) == call


@pytest.mark.asyncio
async def test_an_answer_without_the_file_is_sent_back_once(
    bench: Bench, scripted: ScriptedServer
) -> None:
    write = call("create_file", path="notes.md", content="x")
    scripted.add(text("I wrote it."), write, text("Now I did."))
    await bench.tell("Write notes.md.")
    objection = scripted.requests[1].body["messages"][-1]["content"]
    assert "'notes.md' is not there" in objection
    assert how_to_write("notes.md") in objection
    assert (bench.workspace / "notes.md").read_text() == "x"
    scripted.add(text("I cannot."), text("I cannot."))
    await bench.tell("Write other.md.")
    assert len(scripted.requests) == 5


@pytest.mark.asyncio
async def test_what_was_denied_is_not_asked_for_again(
    bench: Bench, scripted: ScriptedServer
) -> None:
    bench.service.rules.add(Effect.DENY, "create_file", Scope.SESSION, bench.context.id)
    scripted.add(call("create_file", path="notes.md", content="x"), text("I may not."))
    await bench.tell("Write notes.md.")
    assert len(scripted.requests) == 2
