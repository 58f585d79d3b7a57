"""The form in which a user wants an answer: found in the request, held against the answer."""

from __future__ import annotations

import pytest

from cowork_jupyter.agents.run.answer_form import AnswerForm, how_to_write, wanted_files
from cowork_jupyter.policy.rules import Effect, Scope

from ...scripted import Scripted, ScriptedServer, call, text
from .conftest import Bench

ASKED = (
    "What is six times seven? End your answer with @product[value]. If the data cannot tell, "
    "write @product[unknown]."
)


@pytest.mark.parametrize(
    ("answer", "missing"),
    [
        ("It is 42. @product[42]", []),
        ("@product[unknown]", []),
        ("It is 42. @product[value]", ["@product[…]"]),
        ("@product[{product:.2f}]", ["@product[…]"]),
        ("@product[nan]", ["@product[…]"]),
        ("@42", ["@product[…]"]),
    ],
)
def test_an_answer_has_the_form_with_a_value(answer: str, missing: list[str]) -> None:
    assert AnswerForm.of(ASKED).missing(answer) == missing


@pytest.mark.parametrize(
    ("request_text", "right", "wrong"),
    [
        ("Count them. End with COUNT=value.", "COUNT=3", "COUNT=value."),
        ("Answer in the form mean: <number>", "mean: 3", "mean: <number>"),
        ("Give both: @low[x] and @high[y]", "@low[1] @high[2]", "@low[1] @high[y]"),
    ],
)
def test_forms_are_written_in_several_ways(request_text: str, right: str, wrong: str) -> None:
    form = AnswerForm.of(request_text)
    assert form.is_met(right)
    assert form.missing(wrong)


@pytest.mark.parametrize(
    "request_text",
    ["Plot df[price].", "Set x=1 and y=n.", "Write name: value pairs", "Ask @anna about it."],
)
def test_most_requests_ask_for_no_form(request_text: str) -> None:
    form = AnswerForm.of(request_text)
    assert form.missing("Done.") == []
    assert not form.is_met("Done.")


def test_a_forgotten_sign_costs_no_turn() -> None:
    form = AnswerForm.of(ASKED)
    assert form.repair("So product[42].") == "So @product[42]."
    assert form.repair("byproduct[1] @product[42]") == "byproduct[1] @product[42]"


@pytest.mark.asyncio
async def test_an_answer_without_its_form_is_sent_back_once(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(text("It is 42."), text("@product[42]"))
    await bench.tell(ASKED)
    assert "@product[…]" in scripted.requests[1].body["messages"][-1]["content"]
    assert bench.messages()[-1].text == "@product[42]"
    scripted.add(text("It is 42."), text("I said so."))
    await bench.tell(ASKED)
    assert len(scripted.requests) == 4
    assert bench.messages()[-1].text == "I said so."


@pytest.mark.asyncio
async def test_an_answer_that_was_cut_off_is_continued_before_it_is_judged(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(Scripted(text="It is", finish="length"), text("42. @product[42]"))
    await bench.tell(ASKED)
    assert len(scripted.requests) == 2
    assert "Go on exactly where" in scripted.requests[1].body["messages"][-1]["content"]


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
