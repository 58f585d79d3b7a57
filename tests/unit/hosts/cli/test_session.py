"""`plan`, `act` and `export` where nobody sits: in scripts and in CI."""

from __future__ import annotations

import io
import json
import subprocess
from pathlib import Path

import pytest

from tests.quick import each
from tests.scripted import ScriptedServer, call, plan, text

from .terminals import PATIENCE, PROGRAM, run, run_here

pytestmark = pytest.mark.process

STEP = {"action": "Write a.txt", "files": ["a.txt"], "tools_needed": ["create_file"]}
WRITE = call("create_file", path="a.txt", content="a\n")


def test_a_plan_is_made_carried_out_and_taken_along(
    tmp_path: Path,
    connected: ScriptedServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    connected.add(plan("Write a", STEP))
    planned = run("plan", "Write a file", folder=tmp_path)
    assert planned.returncode == 0, planned.stderr
    assert planned.stdout.splitlines()[:3] == ["Plan: Write a", "", "  1. Write a.txt"]
    assert "completed" in planned.stderr
    assert planned.stderr.endswith("execute it: jupyter cowork act\n")
    assert not (tmp_path / "a.txt").exists()

    connected.add(WRITE, text("Written."))
    done = run("act", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "▶ 1. Write a.txt" in done.stderr
    assert "✓ 1. Write a.txt (completed)" in done.stderr
    assert done.stdout == "Written.\n"
    assert (tmp_path / "a.txt").read_text() == "a\n"

    monkeypatch.chdir(tmp_path)
    assert run_here("export") == 0
    assert capsys.readouterr().out.startswith("# Write a file")
    assert run_here("export", "-o", "record.ipynb") == 0
    assert json.loads((tmp_path / "record.ipynb").read_text())["nbformat"] == 4
    assert run_here("export", "-o", "record.jsonl") == 0
    lines = (tmp_path / "record.jsonl").read_text().splitlines()
    assert json.loads(lines[0])["type"] == "context"
    assert run_here("export", "-o", "record.jsonl") == 1
    told = capsys.readouterr().err
    assert told == "cowork: record.jsonl already exists. Choose another name.\n"


def test_a_plan_is_saved_as_a_workflow(
    tmp_path: Path,
    connected: ScriptedServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    connected.add(plan("Write a", STEP))
    run("plan", "Write a file", folder=tmp_path)
    monkeypatch.chdir(tmp_path)
    assert run_here("save", "note") == 0
    told = capsys.readouterr()
    assert told.out == "Saved as note.\n"
    assert "  file=a.txt" in told.err
    assert run_here("save", "note", "file") == 1
    assert "already exists" in capsys.readouterr().err
    assert run_here("save", "note", "file", "--replace", "--describe", "Write a note.") == 0
    assert "%cowork run note file=a.txt" in capsys.readouterr().err
    assert run_here("save", "Not a name") == 2
    assert "lower-case letters" in capsys.readouterr().err


def test_a_policy_file_decides(tmp_path: Path, connected: ScriptedServer) -> None:
    connected.add(WRITE, text("Written."))
    (tmp_path / "rules.toml").write_text('[permissions]\nallow = ["create_file"]\n')
    done = run("act", "--policy", "rules.toml", "-", folder=tmp_path, text="Write a.txt\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "Written.\n"
    assert (tmp_path / "a.txt").exists()


def test_events_come_as_lines_of_json(tmp_path: Path, connected: ScriptedServer) -> None:
    connected.add(call("list_directory", path="."), text("Nothing \x1b[31mhere.\x07"))
    done = run("act", "--json", "What is here?", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    envelope = {"seq", "type", "context_id", "job_id", "task_id", "created_at", "data"}
    assert all(set(event) == envelope for event in events)
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert (events[0]["type"], events[-1]["type"]) == ("job-started", "job-completed")
    assert {"tool-call", "tool-result", "message"} <= {event["type"] for event in events}
    assert done.stdout.isascii()


def test_a_reader_that_has_seen_enough_ends_the_run_without_a_word(
    tmp_path: Path, connected: ScriptedServer
) -> None:
    connected.add(text("on and " * 10_000, delay=0.05))  # so that there is always more to write
    command = [PROGRAM, "act", "--json", "Think long"]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as program:
        assert program.stdout
        assert program.stderr
        assert b"job-started" in program.stdout.readline()
        program.stdout.close()
        assert (program.wait(PATIENCE), program.stderr.read()) == (1, b"")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that commands of this very process work in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    return tmp_path


def test_what_nobody_can_be_asked_about_is_denied_and_the_exit_code_tells(
    here: Path, connected: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    connected.add(WRITE, text("I could not."))
    assert run_here("act", "Write a.txt") == 3
    shown = capsys.readouterr()
    assert "Nobody can be asked" in shown.err
    assert "a policy file that allows create_file" in shown.err
    assert shown.out == "I could not.\n"
    assert not (here / "a.txt").exists()


def test_nothing_that_a_model_writes_reaches_the_terminal_as_a_command(
    here: Path, connected: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    step = {"action": "Run\x1b]0;title\x07 it", "files": ["a\u202etxt"], "tools_needed": []}
    connected.add(call("read_file", path="\x1b[2J"), plan("Go\x1b[8m", step))
    assert run_here("plan", "Plan it") == 0
    shown = capsys.readouterr()
    assert "Go⟨U+001B⟩[8m" in shown.out
    assert "a⟨U+202E⟩txt" in shown.out
    assert "read_file ⟨U+001B⟩[2J" in shown.err
    assert not set(shown.out + shown.err) & set("\x1b\x07\u202e")


def test_without_a_model_that_answers_it_says_so_and_ends(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_here("plan", "Hi", "--Cowork.base_url=http://127.0.0.1:9/v1") == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("cowork: Nothing answers at http://127.0.0.1:9/v1.")
    assert len(shown.err.splitlines()) == 1


def test_what_changed_since_the_plan_was_made_is_named(
    here: Path, connected: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    step = {"action": "Look at it", "files": ["new.txt"]}
    connected.add(call("list_directory", path="."), plan("Look", step), text("Seen."))
    assert run_here("plan", "Plan it") == 0
    (here / "new.txt").touch()
    assert run_here("act") == 0
    assert "Changed since the plan was made: new.txt" in capsys.readouterr().err


def test_a_failed_run_and_a_plan_that_was_not_made_are_failures(
    here: Path, connected: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_here("act", "Write a file") == 1  # the script has no reply to that
    assert "cowork: " in capsys.readouterr().err
    connected.add(text("What do you mean?"))
    assert run_here("plan", "Hm") == 1
    assert capsys.readouterr().out == "What do you mean?\n"
    assert run_here("act") == 1
    assert "no plan yet" in capsys.readouterr().err


def test_each_folder_and_each_name_has_a_conversation_of_its_own(
    here: Path, connected: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    connected.add(*(text(f"Answer {n}.") for n in range(1, 7)))
    (here / "other").mkdir()

    def context_of(*arguments: str) -> str:
        run_here("act", "Hi", "--json", *arguments)
        return str(json.loads(capsys.readouterr().out.splitlines()[0])["context_id"])

    first = context_of()
    assert context_of("-c", first) == first
    named = context_of("-c", "cleaning")
    elsewhere = context_of("--workspace", "other")
    new = context_of("--new")
    assert len({first, named, elsewhere, new}) == 4
    assert context_of() == new
    assert run_here("export", "-c", "unknown") == 1
    assert "no conversation called 'unknown'" in capsys.readouterr().err


def test_files_are_reviewed_and_the_exit_code_tells(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "clean.py").write_text("x = 1\n")
    (here / "leaky.py").write_text("try:\n    f()\nexcept Exception:\n    pass\n")
    assert run_here("review", "clean.py") == 0
    told = capsys.readouterr().out
    assert told.startswith("Review: approve. I checked `clean.py` by rules.")
    assert run_here("review", "clean.py", "leaky.py") == 1
    told = capsys.readouterr().out
    assert "- leaky.py:3 (major): This catches every error and ignores it silently." in told
    assert run_here("review", "gone.py") == 1


def test_a_base_prompt_is_used_from_then_on(here: Path, connected: ScriptedServer) -> None:
    connected.add(text("First."), text("Second."))
    assert run_here("act", "Hi", "--prompt", "default") == 0
    assert run_here("plan", "Hi", "--prompt", "nothing") == 2
    (here / ".cowork" / "prompts").mkdir(parents=True)
    (here / ".cowork" / "prompts" / "team.md").write_text("Obey the team.")
    assert run_here("act", "Hi", "--prompt", "team") == 2, "it is not trusted"
    assert len(connected.requests) == 1


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["plan", "-"], "the text is empty"),
        (["act", "Hi", "--workspace", "gone"], "is not a folder"),
        (
            ["act", "Hi", "--policy", "none.json"],
            "Cannot read the policy file none.json: No such file",
        ),
        (["act", "--new"], "has no plan to execute yet"),
    ],
)
def test_what_cannot_be_meant_is_a_usage_error(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], why: str
) -> None:
    assert run_here(*arguments) == 2
    told = capsys.readouterr().err
    assert why in told
    assert len(told.splitlines()) == 1


@pytest.mark.parametrize("options", each(2, [("act", "--verbose"), ("--debug", "act"), ("act",)]))
def test_what_is_done_is_logged_only_if_asked_for(
    tmp_path: Path, connected: ScriptedServer, options: tuple[str, ...]
) -> None:
    connected.add(text("Done."))
    done = run(*options, "Go on", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "Done.\n"
    logged = [line for line in done.stderr.splitlines() if "model called " in line]
    assert len(logged) == (options != ("act",))
    assert ("] job job_" in done.stderr) == (options != ("act",))
