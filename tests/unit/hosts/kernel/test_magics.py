"""The magics, in a real IPython shell with no model connected."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from cowork_jupyter.hosts.kernel import session as desks
from cowork_jupyter.hosts.kernel.link import CellProblem
from cowork_jupyter.hosts.kernel.own_link import OwnLink
from cowork_jupyter.hosts.kernel.session import KernelSession
from tests.scripted import ScriptedServer, plan, text

pytestmark = pytest.mark.usefixtures("session")


@pytest.fixture(autouse=True)
def loaded(shell: InteractiveShell) -> None:
    shell.run_line_magic("load_ext", "cowork_jupyter")


@pytest.fixture
def bundles(shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What is displayed."""
    shown: list[dict[str, Any]] = []

    def take(data: dict[str, Any], **_: Any) -> None:
        shown.append(data)

    monkeypatch.setattr(shell.display_pub, "publish", take)
    return shown


def test_loading_registers_the_magics(shell: InteractiveShell) -> None:
    magics = shell.magics_manager.magics
    assert {"plan", "act", "ask"} <= set(magics["cell"])
    assert "cowork" in magics["line"]


def test_loading_twice_changes_nothing(shell: InteractiveShell) -> None:
    before = len(shell.input_transformers_cleanup), len(shell.Completer.custom_matchers)
    shell.run_line_magic("reload_ext", "cowork_jupyter")
    assert (len(shell.input_transformers_cleanup), len(shell.Completer.custom_matchers)) == before


@pytest.mark.parametrize(("magic", "role"), [("plan", "Planner"), ("act", "Actor")])
def test_a_model_without_a_server_gets_a_card_that_says_how_to_connect_one(
    shell: InteractiveShell,
    bundles: list[dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    magic: str,
    role: str,
) -> None:
    monkeypatch.setenv("COWORK_MODEL", "m")
    shell.run_cell_magic(magic, "", "Clean sales.csv\nand more")
    (bundle,) = bundles
    text = bundle["text/markdown"]
    assert text.startswith(f"**{role}** · Clean sales.csv\n")
    assert "Set COWORK_BASE_URL." in text
    assert "Nothing was sent to a model" in text


def test_the_card_names_the_model_that_was_asked_for(
    shell: InteractiveShell, bundles: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COWORK_BASE_URL", "http://127.0.0.1:9/v1")
    shell.run_cell_magic("plan", "-m small-model", "x")
    assert "Nothing answers at http://127.0.0.1:9/v1" in bundles[0]["text/markdown"]


def test_a_card_does_not_repeat_the_whole_of_a_long_goal(
    shell: InteractiveShell, bundles: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COWORK_MODEL", "m")
    shell.run_cell_magic("plan", "", "long " * 10_000)
    assert len(str(bundles[0])) < 20_000


def test_settings_count_from_the_next_cell_on(
    session: KernelSession, bundles: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = session.link
    assert session.link is first
    monkeypatch.setenv("COWORK_BASE_URL", "http://127.0.0.1:9/v1")
    assert session.link is not first


def test_jupyters_config_files_count_and_the_shells_own_settings_above_them(
    shell: InteractiveShell,
) -> None:
    folder = Path(os.environ["JUPYTER_CONFIG_DIR"])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "jupyter_config.py").write_text("c.Cowork.model = 'filed'")
    (folder / "jupyter_server_config.py").write_text("c.Cowork.max_iterations = 7")
    shell.config.Cowork.model = "nearer"
    link = desks.session().link
    assert isinstance(link, OwnLink)
    assert (link.settings.model, link.settings.max_iterations) == ("nearer", 7)
    desks.session().close()


def test_a_setting_that_cannot_be_is_named_in_one_line(shell: InteractiveShell) -> None:
    shell.config.Cowork.max_iterations = 0
    problem = shell.run_cell("%%plan\nx").error_in_exec
    assert isinstance(problem, CellProblem)
    assert "max_iterations" in str(problem)


def test_help_explains_the_options(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.run_line_magic("pinfo", "%%act")
    shown = capsys.readouterr().out
    for option in ("--context NAME", "--model MODEL", "--wait", "--policy FILE"):
        assert option in shown
    assert "executes the current plan" in shown


def test_an_unknown_option_is_one_line_not_a_traceback(shell: InteractiveShell) -> None:
    with pytest.raises(UsageError):
        shell.run_cell_magic("plan", "--no-such-option", "x")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("%%plan", "Write your goal below %%plan."),
        ("%%plan\n   \n", "Write your goal below %%plan."),
        ("%%ask", "Write your message below %%ask."),
        ("%%ask reveiwer\nLook", "There is no role 'reveiwer'. Did you mean 'reviewer'?"),
        ("%cowork frobnicate", "There is no '%cowork frobnicate'. See: %cowork help"),
        ("%cowork role", "Usage: %cowork role ROLE [--confirm]"),
        ("%cowork role actor now", "Usage: %cowork role ROLE [--confirm]"),
        ("%cowork role king", "There is no role 'king'. Roles: planner, actor"),
        ("%cowork audit", "This notebook has no conversation yet."),
        ("%cowork -c sales audit", "This notebook has no conversation 'sales' yet."),
        ("%cowork export x.pdf", "The file name must end in .jsonl, .md, .ipynb."),
        ("%cowork run nothing", "There is no workflow 'nothing'. See: %cowork workflows"),
        ("%cowork run 'x", "Cannot read this line"),
        ("%%plan -c 'x\ngoal", "Cannot read this line"),
        ("%%act -m 'x\ngoal", "Cannot read this line"),
        ("%cowork run explain_notebook =x", "Write parameters as name=value, not '=x'."),
        ("%%act --policy no.json\nx", "Cannot read the policy file no.json"),
    ],
)
def test_mistakes_are_answered_in_one_line(shell: InteractiveShell, code: str, words: str) -> None:
    result = shell.run_cell(code)
    problem = result.error_in_exec
    assert isinstance(problem, CellProblem)
    (line,) = problem._render_traceback_()
    assert line.startswith(f"Cowork: {words}")
    assert "\n" not in line


def test_an_empty_act_cell_means_the_plan(
    shell: InteractiveShell, connected: Any, bundles: list[dict[str, Any]]
) -> None:
    problem = shell.run_cell("%%act").error_in_exec
    assert "This conversation has no plan yet" in str(problem)


@pytest.mark.parametrize("words", ["-h", "--help"])
def test_help_is_found_as_in_a_terminal(shell: InteractiveShell, words: str) -> None:
    assert str(shell.run_line_magic("cowork", words)) == str(shell.run_line_magic("cowork", "help"))


def test_help_lists_every_command(shell: InteractiveShell) -> None:
    text = repr(shell.run_line_magic("cowork", "help"))
    for name in ("role", "plan", "execute", "cancel", "rollback", "history", "audit", "export"):
        assert f"%cowork {name}" in text
    for name in ("checkpoints", "rules", "models", "workflows", "run", "doctor", "help"):
        assert f"%cowork {name}" in text


def test_help_fits_into_a_cell(shell: InteractiveShell) -> None:
    text = str(shell.run_line_magic("cowork", "help"))
    assert max(map(len, text.splitlines())) <= 78


def test_workflows_are_listed_with_their_parameters(shell: InteractiveShell) -> None:
    text = repr(shell.run_line_magic("cowork", "workflows"))
    assert "| `write_tests` |" in text
    assert "`module=…`" in text


@pytest.mark.process
def test_the_package_offers_its_class_without_loading_it_at_once() -> None:
    import subprocess
    import sys

    program = (
        "import sys, cowork_jupyter\n"
        "assert 'cowork_jupyter.hosts.kernel.cowork' not in sys.modules\n"
        "from cowork_jupyter import Cowork\n"
        "assert Cowork.__module__ == 'cowork_jupyter.hosts.kernel.cowork'\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_name_in_quotes_is_the_name_without_them(
    session: KernelSession,
    shell: InteractiveShell,
    bundles: list[dict[str, Any]],
    connected: ScriptedServer,
) -> None:
    connected.add(plan("Say hello", "Say it"))
    shell.run_cell_magic("plan", '-c "Two words"', "Say hello")
    assert session.find("Two words") is not None


def test_a_role_of_the_users_own_is_asked_and_chosen_like_ours(
    session: KernelSession,
    shell: InteractiveShell,
    bundles: list[dict[str, Any]],
    connected: ScriptedServer,
) -> None:
    connected.add(text("Perhaps."))
    link = session.link
    assert isinstance(link, OwnLink)
    file = link.settings.data_dir / "roles/statistician.toml"
    file.parent.mkdir(parents=True)
    file.write_text(
        'name = "statistician"\nlabel = "Statistician"\ndescription = "Doubts."\n'
        'colour = "brown"\nbased_on = "reviewer"\nprompt = "You doubt."\n'
    )
    assert "**Statistician**" in str(shell.run_line_magic("cowork", "role statistician"))
    shell.run_cell_magic("ask", "statistician", "Is it significant?")
    assert bundles[-1]["text/plain"].startswith("**Statistician** · Is it significant?")
    (look,) = bundles[-1]["application/vnd.cowork.record+json"]["roles"]
    assert (look["label"], look["colour"]) == ("Statistician", "brown")
    shell.run_line_magic("cowork", "")
    assert bundles[-1]["text/plain"].startswith("**Statistician** · ")
