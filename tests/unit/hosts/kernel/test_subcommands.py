"""`%cowork memory` shows what is remembered, and sends the user's word."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from cowork_jupyter.hosts.kernel.commands import _HANDLERS, Command
from cowork_jupyter.hosts.kernel.link import CellProblem
from cowork_jupyter.hosts.kernel.session import KernelSession

PROPOSAL = {"job_id": "j2", "diff": "+- `a.csv`: columns `x`\n", "fingerprint": "f"}


class Service:
    """A memory, and what two runs would add."""

    def __init__(self, **memory: Any) -> None:
        known = {"text": "- known", "trusted": True, "enabled": True, "proposals": [PROPOSAL] * 2}
        self.memory = {**known, **memory}
        self.asked: list[tuple[str, str, Any]] = []
        self.link = self
        self.place = SimpleNamespace(cell_id="cell 1")

    def request(self, method: str, address: str, body: Any = None) -> dict[str, Any]:
        self.asked.append((method, address, body))
        return self.memory

    def run(self, *arguments: str) -> str:
        note = _HANDLERS["memory"](Command(cast("KernelSession", self), None, list(arguments)))
        assert note
        return note.markdown


def test_it_shows_the_file_and_what_the_newest_run_would_add() -> None:
    shown = Service().run()
    assert "- known" in shown
    assert "**Remember this?**" in shown
    assert "+- `a.csv`" in shown
    assert "1 older run has more" in shown


@pytest.mark.parametrize(
    ("memory", "said"),
    [
        ({"text": "", "proposals": []}, "Nothing is remembered"),
        ({"trusted": False}, "Not followed until you trust it"),
        ({"enabled": False}, "Memory is off"),
    ],
)
def test_it_says_how_it_stands(memory: dict[str, Any], said: str) -> None:
    assert said in Service(**memory).run()


@pytest.mark.parametrize("decision", ["keep", "drop"])
def test_the_newest_is_kept_or_dropped_in_the_name_of_this_cell(decision: str) -> None:
    service = Service()
    service.run(f"--{decision}")
    said = {"decision": decision, "fingerprint": "f", "cell_id": "cell 1"}
    assert service.asked[-1] == ("POST", "jobs/j2/memory", said)


def test_all_or_some_of_it_is_forgotten() -> None:
    service = Service()
    service.run("--forget")
    assert service.asked[-1] == ("DELETE", "memory?cell_id=cell+1", None)
    service.run("--forget", "a", "b&c")
    assert service.asked[-1] == ("DELETE", "memory?text=a+b%26c&cell_id=cell+1", None)


def test_what_makes_no_sense_is_said() -> None:
    with pytest.raises(CellProblem, match="nothing new"):
        Service(proposals=[]).run("--keep")
    with pytest.raises(CellProblem, match=r"Usage: %cowork memory \[--keep"):
        Service().run("--keep", "it")
