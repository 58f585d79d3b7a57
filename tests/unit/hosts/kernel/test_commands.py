"""`%cowork …` asks the service for the right things."""

from __future__ import annotations

from typing import Any, cast

import pandas
import pytest
from IPython.core.interactiveshell import InteractiveShell

from cowork_jupyter.hosts.kernel.commands import _HANDLERS, Command, command
from cowork_jupyter.hosts.kernel.link import CellProblem
from cowork_jupyter.hosts.kernel.session import KernelSession

POINTS: list[tuple[str, str, list[str]]] = [
    ("cp1", "changed", []),
    ("cp2", "changed", ["a.txt"]),
    ("cp3", "looked", []),
]


class Service:
    """One conversation with a run that changed a file, and a later one that only could have."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.link = self

    def find(self, _name: str | None) -> dict[str, str]:
        return {"id": "ctx"}

    def request(self, method: str, address: str, _body: Any = None) -> dict[str, Any]:
        self.asked.append(f"{method} {address}")
        if address.endswith("/jobs"):
            return {"items": [{"id": "changed"}, {"id": "looked"}]}
        if address.endswith("/checkpoints"):
            return {"items": [{"id": a, "job_id": b, "files": c} for a, b, c in POINTS]}
        return {"restored": [], "removed": [], "skipped": [], "checkpoint_id": None, "notes": []}


class Pinned(Service):
    """One expectation about a variable, and one about a file that the service has looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.below: list[str] = []

    def insert_below(self, source: str) -> None:
        self.below.append(source)

    def request(self, method: str, address: str, _body: Any = None) -> Any:
        rows = {"id": "e1", "of": "orders", "check": "rows", "value": 3}
        file = {"id": "e2", "of": "file:a.csv", "check": "unique"}
        if address.endswith("/export?format=asserts"):
            return b"assert len(orders) == 3\n"
        if address.endswith("/check"):
            return {"items": [{"expectation": file, "met": True, "found": ""}]}
        return {"items": [rows, file]}


def test_expectations_are_listed_with_how_they_stand(shell: InteractiveShell) -> None:
    command = Command(cast("KernelSession", Pinned()), None, [])
    shell.user_ns["orders"] = pandas.DataFrame({"id": [1, 2]})
    note = _HANDLERS["expectations"](command)
    assert note
    assert note.markdown.splitlines()[1:-1] == [
        "✕ orders: rows = 3 — it is 2",
        "✓ a.csv: no repeated rows",
    ]


def test_expectations_become_a_cell() -> None:
    service = Pinned()
    _HANDLERS["expectations"](Command(cast("KernelSession", service), None, ["--asserts"]))
    assert service.below == ["assert len(orders) == 3\n"]
    with pytest.raises(CellProblem, match="Usage: %cowork expectations"):
        _HANDLERS["expectations"](Command(cast("KernelSession", service), None, ["--sql"]))


def test_without_a_name_the_last_run_that_changed_something_is_taken_back() -> None:
    service = Service()
    _HANDLERS["rollback"](Command(cast("KernelSession", service), None, []))
    assert service.asked[-1] == "POST checkpoints/cp1/rollback"


@pytest.mark.parametrize(
    ("line", "usage"),
    [("-h me", "help"), ("role", "role ROLE"), ("export a.md b.md", "export FILE")],
)
def test_the_wrong_number_of_words_shows_the_usage(line: str, usage: str) -> None:
    with pytest.raises(CellProblem, match=f"^Usage: %cowork {usage}"):
        command(line)
