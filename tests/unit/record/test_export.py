"""A conversation as a file: whole, readable, harmless, discreet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from markdown_it import MarkdownIt

from cowork_jupyter.domain.contexts import Initiator, StepStatus
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.messages import ENDED_EARLY, MessageType
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.record import ExportFormat, Redactor, export

from .logs import TOOLS, Log

KEY = "sk-proj-abc123def456ghi789"
NOBODY = Redactor()


def exported(log: Log, kind: str = "md", redactor: Redactor = NOBODY) -> str:
    return export(log.facts(), ExportFormat(kind), TOOLS, redactor).body.decode()


@pytest.fixture
def log() -> Log:
    """A plan of two steps, of which one fails and is skipped."""
    log = Log(
        {"id": "a", "action": "Drop duplicates", "tools_needed": ["update_file"],
         "files": ["clean.py"], "estimated_time": "5 s"},
        {"id": "b", "action": "Chart revenue", "depends_on": ["a"]},
    )  # fmt: skip
    log.say("Clean sales.csv", role="user")
    log.use("read_file", "sales.csv")
    steps = [{"action": "Drop duplicates"}, {"action": "Chart revenue"}]
    planner: dict[str, Any] = {"agent_role": AgentRole.PLANNER, "goal": "Clean", "steps": steps}
    log.say("", MessageType.PLAN, **planner)
    log.begin("a")
    log.use("update_file", "clean.py", step="a")
    log.use("execute_command", step="a", asked=True, command="pip install pyarrow",
            output="\n".join(f"line {number}" for number in range(100)))  # fmt: skip
    log.say("214 rows dropped.", MessageType.TEXT, "a")
    log.result("a", "214 rows dropped.")
    log.end("a")
    log.begin("b")
    log.result("b", "no such column", "failed")
    options = [{"label": "Skip this step", "value": "skip"}]
    log.say("Step 2 failed. What now?", MessageType.QUESTION, "b", id="q1", options=options)
    log.event(EventType.QUESTION_ANSWERED, "b", id="q1", value="skip")
    log.end("b", StepStatus.SKIPPED)
    return log


@pytest.mark.parametrize(
    ("by", "revision", "said"),
    [
        ("person", "Revision 1 was approved", "**You, 14:00**\n\n> Execute the plan."),
        ("kernel", "Revision 1 was executed by code", "\n*A cell executes the plan.*\n"),
        (
            "policy",
            "Revision 1 was executed by code, under a policy file",
            "\n*A cell executes the plan.*\n",
        ),
    ],
)
def test_it_says_who_had_the_plan_executed(
    log: Log, by: Initiator, revision: str, said: str
) -> None:
    log.job.by = by
    words = "Execute the plan." if by == "person" else "A cell executes the plan."
    log.say(words, role="user", approved_revision=1, by=by)
    told = exported(log)
    assert f"{revision} · 1 of 2 steps completed" in told
    assert said in told


@pytest.mark.parametrize(
    ("by", "facts", "name"),
    [
        ("person", {}, "You"),
        ("kernel", {}, "A cell of a.ipynb"),
        ("guest", {"guest": "goose"}, "goose"),
    ],
)
def test_it_says_who_asked_and_who_went_on(by: Initiator, facts: dict[str, Any], name: str) -> None:
    log = Log()
    log.job.by, log.job.notebook = by, "a.ipynb"
    log.say("Look around", role="user", **facts)
    log.say("Look again", role="user")
    told = exported(log)
    assert f"**{name}, 14:00**\n\n> Look around" in told
    assert "**You, 14:00**\n\n> Look again" in told


def test_jsonl_has_the_context_and_then_all_events_in_order(log: Log) -> None:
    first, *rest = map(json.loads, exported(log, "jsonl").splitlines())
    assert first["type"] == "context"
    assert first["data"] == log.context.model_dump()
    assert [one["seq"] for one in rest] == [event.seq for event in log.events]
    assert [one["data"]["id"] for one in rest if one["type"] == "message"] == [
        message.id for message in log.messages
    ]
    assert rest == [json.loads(event.model_dump_json()) for event in log.events]


def test_markdown_reads_as_a_report(log: Log) -> None:
    text = exported(log)
    assert text.startswith(
        "# Sales\n\n4 July 2026, 14:00 UTC · `gpt-5-mini` · Actor, Planner\n\n"
        "## Goal\n\n> Clean sales.csv\n\n## The plan and what happened\n\n"
        "Revision 1 was approved · 1 of 2 steps completed · "
    )
    assert "| ✓ 1 | Drop duplicates | `update_file`, `clean.py`, 5 s | " in text
    assert "`update_file` `execute_command`, changed `clean.py`, 9.0 s | extra tool |" in text
    assert "| – 2 | Chart revenue | after a | 6.0 s | failed, skipped |" in text
    assert "- Step 1: also used execute_command: execute_command (allowed by you)" in text
    assert "- Step 2: failed: no such column\n- Step 2: skipped, as you decided" in text
    assert "## Outside the plan\n\n- Actor: `read_file`, read `sales.csv`" in text
    assert (
        "**Planner, 14:00** proposes a plan: Clean\n\n1. Drop duplicates\n2. Chart revenue" in text
    )
    assert "- Step 1, `execute_command`: execute_command\n\n```bash\npip install pyarrow\n" in text
    assert "line 11\n[… cut here; it has 100 lines" in text
    assert "line 12\n" not in text
    assert text.count("214 rows dropped.") == 1
    assert "**Step 2** failed." in text
    assert "asks: Step 2 failed. What now?\n\n**You:** Skip this step" in text


def test_without_a_plan_there_is_still_a_report() -> None:
    log = Log()
    log.context = log.context.model_copy(update={"title": "", "model": None})
    log.say("Why is March low?", role="user")
    log.use("read_file", "sales.csv")
    log.say("Because of the strike.")
    text = exported(log)
    assert text.startswith("# Why is March low?\n\n")
    assert "## What was done\n\n- Actor: `read_file`" in text
    assert "The plan" not in text
    assert text.endswith("**Actor, 14:00**\n\n> Because of the strike.\n")


@pytest.mark.parametrize("cut", ["stopped", "killed", "length", "repetition"])
def test_a_reply_that_ended_early_stays_readable_and_says_so(cut: str) -> None:
    log = Log()
    log.say("Why is March low?", role="user")
    log.say("Because of the st", cut=cut)
    text = exported(log)
    assert f"> Because of the st\n\n*{ENDED_EARLY[cut]}*" in text  # type: ignore[index]
    assert f'"cut": "{cut}"' in exported(log, "jsonl").replace('":"', '": "')
    assert "Because of the st" in exported(log, "ipynb")


def test_a_notebook_is_valid_and_nothing_in_it_can_be_run(log: Log) -> None:
    notebook = json.loads(exported(log, "ipynb"))
    nbformat.validate(notebook)
    assert {cell["cell_type"] for cell in notebook["cells"]} == {"markdown"}
    sources = ["".join(cell["source"]) for cell in notebook["cells"]]
    assert sources[0].startswith("# Sales")
    together = "\n\n".join(sources)
    assert together + "\n" == exported(log)


def test_names_and_types_fit_the_formats(log: Log) -> None:
    made = {kind: export(log.facts(), kind, TOOLS, NOBODY) for kind in ExportFormat}
    assert [one.file_name for one in made.values()] == [
        "cowork-2026-07-04-sales.jsonl",
        "cowork-2026-07-04-sales.md",
        "cowork-2026-07-04-sales.ipynb",
    ]
    assert [one.content_type for one in made.values()] == [
        "application/jsonl",
        "text/markdown; charset=utf-8",
        "application/x-ipynb+json",
    ]


@pytest.mark.parametrize("title", ['a"\r\nX-Evil: 1', "../../etc/passwd", "売上", f"key {KEY}"])
def test_a_file_name_is_harmless_whatever_the_title(title: str) -> None:
    log = Log()
    log.context = log.context.model_copy(update={"title": title})
    name = export(log.facts(), ExportFormat.MARKDOWN, TOOLS, NOBODY).file_name
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.")
    assert name.endswith(".md")
    assert "abc123" not in name


LOADING = "![x](http://evil/?leak)"
TRICKS = [
    LOADING,
    f"\\{LOADING}",
    f"`{LOADING}`",
    "<img src=http://evil/?leak>",
    "\\<img src=http://evil/?leak>",
    f"~~~ `\n```\n~~~\n{LOADING}\n```",
    f"> ```\n{LOADING}",
    f"- ```\n{LOADING}",
]


@pytest.mark.parametrize("trick", TRICKS)
def test_nothing_that_somebody_wrote_loads_anything(trick: str) -> None:
    log = Log({"id": "a", "action": trick.replace("\n", " | ")})
    log.context = log.context.model_copy(update={"title": trick})
    log.say(trick, role="user")
    log.use(trick, trick, step="a", command=trick, output=trick)
    log.say(trick, MessageType.QUESTION, "a", context=trick)
    log.result("a", trick, "failed")
    page = MarkdownIt("commonmark").enable("table").render(exported(log))
    assert "<img" not in page
    assert "evil" in page


def test_code_that_was_quoted_stays_as_it_was() -> None:
    log = Log()
    code = "```python\nif a<b and c: x = ['![']\n```"
    log.say(f"Try this:\n{code}")
    assert "> Try this:\n> ```python\n> if a<b and c: x = ['![']\n> ```" in exported(log)


@pytest.mark.parametrize("kind", list(ExportFormat))
@pytest.mark.parametrize(
    "secret",
    [KEY, "Bearer eyJhbGciOi.J9.abc123", "ghp_abcdefghijklmnopqrst123", "our-own-key-9"],
)
def test_what_looks_like_a_key_is_hidden_everywhere(secret: str, kind: ExportFormat) -> None:
    log = Log({"id": "a", "action": f"use {secret}"})
    log.say(f"My key is {secret}.", role="user")
    log.use("execute_command", step="a", command=f"curl -H {secret}", output=f"{secret}\n")
    log.use("execute_command", step="a", command="cat", output=f"{'x' * 990} {secret}")
    for piece in (secret[:3], secret[3:9], secret[9:], " and so on"):
        log.event(EventType.TEXT_DELTA, text=piece)
    text = exported(log, kind, Redactor(["our-own-key-9"]))
    hidden = secret.removeprefix("Bearer ")
    assert hidden not in text
    assert hidden[5:12] not in text
    assert "[hidden]" in text


def test_pieces_of_a_stream_keep_what_is_no_key() -> None:
    log = Log()
    for piece in ("It is s", "k-abcdef", "123456 they", " say"):
        log.event(EventType.TEXT_DELTA, text=piece)
    lines = [json.loads(one) for one in exported(log, "jsonl").splitlines()[1:]]
    assert [one["data"]["text"] for one in lines] == ["It is [hidden]", "", " they", " say"]


def test_what_is_nested_beyond_reason_is_cut_there() -> None:
    deep: list[Any] = []
    for _ in range(900):
        deep = [deep]
    log = Log()
    log.use("read_file", deep=deep)
    assert "nested too deeply" in exported(log, "jsonl")


def test_prose_about_keys_is_no_key() -> None:
    text = "Use scikit-learn with bearer authentication, and risk-adjusted-returns."
    assert NOBODY.clean(text) == text


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("/data/joe/work/a.py", "a.py"),
        ("in /data/joe/work today", "in . today"),
        ("/data/joe/work.bak is in /data/joe.", "~/work.bak is in ~."),
        ("/data/joe/workshop", "~/workshop"),
        ("/data/joe/x and /data/joey", "~/x and /data/joey"),
        ("/home/ann/.ssh/id", "~/.ssh/id"),
        ("/Users/ann", "~"),
        (r"C:\Users\ann\x", r"~\x"),
        ("/root/.cache", "~/.cache"),
        ("src/home/page.html", "src/home/page.html"),
    ],
)
def test_a_report_tells_nothing_of_homes(text: str, cleaned: str) -> None:
    assert Redactor(workspace=Path("/data/joe/work"), home=Path("/data/joe")).clean(text) == cleaned


def test_colours_and_control_characters_are_left_out() -> None:
    log = Log()
    log.use("execute_command", command="ls", output="\x1b[31mred\x1b[0m\x00\r\n10%\r20%")
    assert "```text\nred\n10%\n20%\n```" in exported(log)
