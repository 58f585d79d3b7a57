"""The magics, in a real IPython shell."""

from __future__ import annotations

import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from cowork_jupyter.kernel.card import Card


@pytest.fixture(autouse=True)
def loaded(shell: InteractiveShell) -> None:
    shell.run_line_magic("load_ext", "cowork_jupyter")


def test_loading_registers_the_magics(shell: InteractiveShell) -> None:
    magics = shell.magics_manager.magics
    assert {"plan", "act"} <= set(magics["cell"])
    assert "cowork" in magics["line"]


@pytest.mark.parametrize(("magic", "role"), [("plan", "planner"), ("act", "actor")])
def test_a_cell_answers_with_a_card_in_its_role(
    shell: InteractiveShell, magic: str, role: str
) -> None:
    card = shell.run_cell_magic(magic, "", "Clean sales.csv\nand more")
    assert isinstance(card, Card)
    assert card.card["role"] == role
    assert card.card["title"] == "Clean sales.csv"
    assert "nothing was sent to a model" in card.card["note"]


def test_the_card_names_the_model_that_is_configured(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COWORK_BASE_URL", "http://127.0.0.1:9/v1")
    card = shell.run_cell_magic("plan", "-m small-model", "x")
    assert card.card["health"]["model"]["name"] == "small-model"
    assert "Nothing answers at http://127.0.0.1:9/v1" in card.markdown


def test_with_no_model_the_card_says_how_to_connect_one(shell: InteractiveShell) -> None:
    card = shell.run_line_magic("cowork", "")
    assert "Set COWORK_BASE_URL and COWORK_MODEL" in card.markdown
    assert card.card["role"] is None


def test_help_explains_the_options(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.run_line_magic("pinfo", "%%plan")
    shown = capsys.readouterr().out
    assert "--model" in shown
    assert "read-only" in shown


def test_an_unknown_option_is_one_line_not_a_traceback(shell: InteractiveShell) -> None:
    with pytest.raises(UsageError):
        shell.run_cell_magic("plan", "--no-such-option", "x")
