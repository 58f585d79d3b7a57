"""The magics in real kernels without a server: cells wait, nobody is asked, nothing hangs."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.scripted import ScriptedServer, call, plan, stall, text

from .kernels import RECORD, VIEW, Cells

pytestmark = pytest.mark.process

STEP = {"action": "Write a.txt", "files": ["a.txt"], "tools_needed": ["create_file"]}


def test_a_plan_is_made_and_carried_out(
    cells: Cells, connected: ScriptedServer, tmp_path: Path
) -> None:
    connected.add(plan("Write a", STEP))
    planned = cells.run("%%plan\nWrite a file")
    assert planned.status == "ok"
    assert (planned.card["role"], planned.card["snapshot"]["status"]) == ("planner", "completed")
    assert planned.card["host"] == "kernel"
    assert "1. Write a.txt — `a.txt`" in planned.markdown

    connected.add(call("create_file", path="a.txt", content="a\n"), text("Written."))
    done = cells.run("%%act")
    assert done.card["snapshot"]["status"] == "completed"
    assert "1. ✓ Write a.txt" in done.markdown
    assert (tmp_path / "a.txt").read_text() == "a\n"
    assert "| ✓ 1 | Write a.txt |" in cells.run("%cowork audit").markdown
    assert "Write a file" in cells.run("%cowork history").markdown
    assert "1. ✓ Write a.txt" in cells.run("%cowork plan").markdown
    cells.run("%cowork export record.md")
    assert (tmp_path / "record.md").read_text().startswith("# Write a file")
    again = cells.run("%cowork export record.md")
    assert again.traceback == ["Cowork: record.md already exists. Choose another name."]


def test_a_plan_is_saved_run_again_changed_shared_and_deleted(
    cells: Cells, connected: ScriptedServer, tmp_path: Path
) -> None:
    connected.add(plan("Write a.txt", STEP))
    cells.run("%%plan\nWrite a file")
    saved = cells.run("%cowork save note --describe 'Write a note.'")
    assert "**Saved.** To use it: `%cowork run note`" in saved.markdown
    assert "| `file` | `a.txt` |" in saved.markdown
    taken = cells.run("%cowork save note file")
    assert "already exists. To replace your own: --replace" in taken.error
    again = cells.run("%cowork save note file --replace")
    assert "`%cowork run note file=a.txt`" in again.markdown
    ran = cells.run("%cowork run note file=b.txt")
    assert "1. Write b.txt — `b.txt`" in ran.markdown
    assert ran.card["snapshot"]["guidance"][0]["name"] == "note"

    assert (
        "Changed `note`." in cells.run("%cowork workflows edit note title=Note file=c.txt").markdown
    )
    assert "| `note` | Write {file} | `[file=…]` |" in cells.run("%cowork workflows").markdown
    assert "title, description, file" in cells.run("%cowork workflows edit note x=1").error
    assert ".cowork/workflows/note.json" in cells.run("%cowork workflows share note").markdown
    assert (tmp_path / ".cowork/workflows/note.json").exists()
    cells.run("%cowork workflows share note taken.json")
    assert json.loads((tmp_path / "taken.json").read_text())["title"] == "Note"
    assert "already exists" in cells.run("%cowork workflows share note taken.json").error
    assert "Deleted `note`." in cells.run("%cowork workflows delete note").markdown
    assert "`note`" not in cells.run("%cowork workflows").markdown
    assert "Usage: %cowork workflows" in cells.run("%cowork workflows drop note").error


def test_revisions_of_a_plan_are_listed_compared_and_restored(
    cells: Cells, connected: ScriptedServer
) -> None:
    connected.add(plan("Write a", STEP), plan("Write a, then look", STEP, {"action": "Look"}))
    cells.run("%%plan\nWrite a file")
    assert "| 1 | " in cells.run("%cowork plan --history").markdown
    cells.run("%%ask\nLook at it, too")
    listed = cells.run("%cowork plan --history").markdown
    assert "| Planner | 1 step added |" in listed
    assert "--restore N" in listed
    compared = cells.run("%cowork plan --history 2").markdown
    assert "**Revision 1 → 2**: 1 step added" in compared
    assert "- goal: ~~Write a~~ → Write a, then look" in compared
    assert "- + 2. Look (added)" in compared
    assert "- − 2. Look (removed)" in cells.run("%cowork plan --history 2 1").markdown
    restored = cells.run("%cowork plan --restore 1").markdown
    assert "Restored revision 1 as revision 3." in restored
    assert "| You | revision 1 restored |" in cells.run("%cowork plan --history").markdown
    assert "no revision 9" in cells.run("%cowork plan --history 9").error
    for wrong in ("--history x", "--restore", "--what"):
        assert "Usage: %cowork plan" in cells.run(f"%cowork plan {wrong}").error


def test_a_policy_file_decides(cells: Cells, connected: ScriptedServer, tmp_path: Path) -> None:
    (tmp_path / "rules.json").write_text(json.dumps({"permissions": {"allow": ["create_file"]}}))
    connected.add(call("create_file", path="a.txt", content="a\n"), text("Written."))
    connected.add(call("create_file", path="b.txt", content="b\n"), text("I could not."))
    cells.run("%%act --policy rules.json\nWrite a.txt")
    denied = cells.run("%%act\nWrite b.txt")
    assert (tmp_path / "a.txt").exists()
    assert not (tmp_path / "b.txt").exists()
    assert denied.status == "ok"
    assert "create_file" in denied.markdown


def test_a_run_that_fails_says_why_and_the_notebook_goes_on(
    cells: Cells, connected: ScriptedServer
) -> None:
    failed = cells.run("%%plan\nWrite a file")  # the script has no reply to that
    assert failed.status == "ok"
    assert failed.card["snapshot"]["status"] == "failed"
    assert "**Error:**" in failed.markdown


def test_an_interrupt_stops_the_run(cells: Cells, connected: ScriptedServer) -> None:
    connected.add(stall())

    def interrupt_when_the_model_is_asked() -> None:
        asked = threading.Event()
        while not any("chat" in one.path for one in connected.requests):
            asked.wait(0.02)
        os.kill(cells.manager.provisioner.pid, signal.SIGINT)

    threading.Thread(target=interrupt_when_the_model_is_asked).start()
    shown = cells.run("%%plan\nThink long")
    assert shown.status == "error"
    assert shown.traceback == ["Cowork: Stopped because the cell was interrupted."]
    assert shown.card["snapshot"]["status"] == "cancelled"
    connected.add(text("Hello."))
    assert "> Hello." in cells.run("%%plan\nSay hello").markdown


def test_a_cell_goes_on_with_the_conversation_it_names(
    cells: Cells, connected: ScriptedServer
) -> None:
    connected.add(*(text(f"Answer {n}.") for n in range(1, 5)))
    first = cells.run("%%plan\nOne").card["context_id"]
    assert cells.run("%%plan\nTwo").card["context_id"] == first
    other = cells.run("%%plan -c other\nThree").card["context_id"]
    assert other != first
    assert cells.run("%%plan -c other\nThree").card["context_id"] == other


def test_a_cell_can_choose_the_model_to_go_on_with(cells: Cells, connected: ScriptedServer) -> None:
    connected.add(text("One."), text("Two."), text("Three."))
    models = [
        cells.run(code).card["snapshot"]["model"]
        for code in ("%%plan\na", "%%plan -m other\nb", "%%plan\nc")
    ]
    assert models == ["scripted", "other", "other"]
    asked = [one.body["model"] for one in connected.requests if "chat" in one.path]
    assert asked == models


def test_programs_that_run_notebooks_get_no_widget(cells: Cells, connected: ScriptedServer) -> None:
    connected.add(text("Hello."), text("Hello."))
    assert set(cells.run("%%plan\nHi").outputs[0]) == {RECORD, "text/markdown", "text/plain"}
    cells.attended = True
    assert VIEW in cells.run("%%plan\nHi").outputs[0]
    status = cells.run("%cowork").outputs[0]
    assert (VIEW in status, status[RECORD]) == (True, {"kind": "status"})


def test_tab_completes_what_words_to_the_agent_point_at(tmp_path: Path, cells: Cells) -> None:
    (tmp_path / "regions.csv").write_text("a\n1\n")
    cells.run("import pandas as pd\nregions = pd.DataFrame({'name': [1], 'two words': [2]})")
    assert {"regions", "regions.csv"} <= set(cells.completions("%%ask\nplot @reg"))
    assert cells.completions("%%ask\nplot @regions.na") == ["regions.name"]
    assert "/reviewer" in cells.completions("%%ask\n/rev")
    assert "regions.csv" not in cells.completions("plot @reg")


def test_tab_waits_for_files_that_are_found_late(tmp_path: Path, cells: Cells) -> None:
    (tmp_path / "regions.csv").write_text("a\n1\n")
    cells.run("from cowork_jupyter.agents.mentions import completion as _completion")
    cells.run("_wait, _completion.MAX_WAIT_SECONDS = _completion.MAX_WAIT_SECONDS, 0")
    assert cells.completions("%%ask\nplot @reg") == ["regions.csv"]
    cells.run("_completion.MAX_WAIT_SECONDS = _wait")


def test_tab_completes_commands_roles_models_and_workflows(
    cells: Cells, connected: ScriptedServer
) -> None:
    assert cells.completions("%cowork ro") == ["role", "rollback"]
    assert cells.completions("%cowork role pl") == ["planner"]
    assert cells.completions("%cowork role planner --") == ["--confirm"]
    assert "write_tests" in cells.completions("%cowork run ")
    assert cells.completions("%cowork run write_tests mo") == ["module="]
    assert cells.completions("%%plan --w") == ["--wait"]
    assert cells.completions("%%act -m ") == ["scripted"]
    assert cells.completion_types("%cowork ro") == {"cowork"}
    assert cells.completions("%%ask rev") == ["reviewer"]
    assert cells.completions("%%ask reviewer rev") == []
    assert "print" in cells.completions("%%plan\npri")
    connected.add(text("Hello."))
    cells.run("%%plan -c cleaning\nHi")
    assert cells.completions("%%act -c cl") == ["cleaning"]


def test_tab_goes_on_completing_python(cells: Cells) -> None:
    completed = [cells.completions(code) for code in ("pri", "impo", "import json\njson.loa")]
    assert [names[0] for names in completed] == ["print", "import", "load"]


def test_tab_completes_the_checkpoints_of_the_conversation_that_is_named(
    cells: Cells, connected: ScriptedServer, tmp_path: Path
) -> None:
    (tmp_path / "rules.json").write_text('{"permissions": {"allow": ["create_file"]}}')
    connected.add(call("create_file", path="a.txt", content="a\n"), text("Written."))
    cells.run("%%act -c cleaning --policy rules.json\nWrite a.txt")
    assert cells.completions("%cowork -c cleaning rollback cp_")
    assert cells.completions("%cowork rollback cp_") == []


def test_the_role_can_be_switched(cells: Cells) -> None:
    assert cells.run("%cowork").markdown.startswith("**Actor**")  # of a first conversation
    assert "**Reviewer**" in cells.run("%cowork role reviewer").markdown
    assert cells.run("%cowork").markdown.startswith("**Reviewer**")


def test_a_workflow_is_run_by_name(cells: Cells, connected: ScriptedServer) -> None:
    connected.add(text("It sells fish."))
    shown = cells.run("%cowork run explain_notebook notebook=sales.ipynb")
    assert shown.card["snapshot"]["status"] == "completed"
    assert "It sells fish." in shown.markdown
    wrong = cells.run("%cowork run explain_notebook colour=red")
    assert len(wrong.traceback) == 1
    assert "notebook" in wrong.error


def test_python_says_the_same(cells: Cells, connected: ScriptedServer, tmp_path: Path) -> None:
    connected.add(plan("Write a", STEP))
    connected.add(call("create_file", path="a.txt", content="a\n"), text("Written."))
    connected.add(text("You are welcome."))
    code = """
from cowork_jupyter import Cowork
cw = Cowork()
planned = cw.plan("Write a file")
done = cw.execute()
said = cw.ask("Thanks!")
print(planned.ok, len(planned.plan["steps"]), done.status, said.text)
print([one["role"] for one in cw.messages][:2], cw.audit()["totals"]["completed"])
print(repr(done), cw)
"""
    shown = cells.run(code)
    assert shown.status == "ok", shown.traceback
    assert "True 1 completed You are welcome." in shown.printed
    assert "['user', 'assistant'] 1" in shown.printed
    assert "<Run completed: Write a file> Cowork()" in shown.printed
    assert (tmp_path / "a.txt").exists()
    assert [one[RECORD]["role"] for one in shown.outputs] == ["planner", "actor", "actor"]
    connected.add(text("Fine work."))
    assert cells.run("cw.ask('Look', role='reviewer')").outputs[0][RECORD]["role"] == "reviewer"
    empty = cells.run("cw.plan('  ')")
    assert empty.traceback == ["Cowork: Say what you want: the text is empty."]


def test_a_button_works_once_the_cell_is_done_and_the_output_keeps_up(
    attended: Cells, connected: ScriptedServer, tmp_path: Path
) -> None:
    connected.add(plan("Write a", STEP))
    connected.add(call("create_file", path="a.txt", content="a\n"), text("Written."))
    planned = attended.run("%%plan\nWrite a file")
    address = f"context/{planned.card['context_id']}/plan/execute"
    attended.press(planned.outputs[0][VIEW], "POST", address, {"revision": 1})
    answer = attended.published(lambda one: one["msg_type"] == "comm_msg" and _is_answer(one))
    assert answer["content"]["data"]["content"]["status"] == 200
    attended.published(lambda one: _shown_status(one) == "completed")
    assert (tmp_path / "a.txt").exists()
    assert attended.run("1 + 1").text == "2"


def _is_answer(message: dict[str, Any]) -> bool:
    content = message["content"]["data"].get("content") or {}
    return bool(content.get("id") == 1)


def _shown_status(message: dict[str, Any]) -> str:
    shown = message["content"].get("data") or {}
    if message["msg_type"] != "update_display_data" or "✓" not in shown["text/markdown"]:
        return ""
    return str(shown[RECORD]["snapshot"]["status"])


def test_a_run_can_be_taken_back(cells: Cells, connected: ScriptedServer, tmp_path: Path) -> None:
    (tmp_path / "rules.json").write_text('{"permissions": {"allow": ["create_file"]}}')
    connected.add(call("create_file", path="a.txt", content="a\n"), text("Written."))
    cells.run("%%act --policy rules.json\nWrite a.txt")
    assert (tmp_path / "a.txt").exists()
    listed = cells.run("%cowork checkpoints").markdown
    assert "a.txt" in listed
    (tmp_path / "a.txt").write_text("mine\n")
    left = cells.run("%cowork rollback").markdown
    assert "Stayed as it is: `a.txt`, you have changed it since" in left
    assert "overwrite=[PATH]" in left
    point = re.findall(r"cp_\w+", listed)[0]
    back = cells.run(
        f"from cowork_jupyter import Cowork\nCowork().rollback({point!r}, overwrite=['a.txt'])"
    )
    assert "Removed: `a.txt`" in back.markdown
    assert not (tmp_path / "a.txt").exists()


def test_the_status_names_the_model_that_the_conversation_goes_on_with(
    cells: Cells, connected: ScriptedServer
) -> None:
    connected.add(text("Hello."))
    cells.run("%%act -m large\nhello")
    assert "- Model: `large` at" in cells.run("%cowork").markdown
