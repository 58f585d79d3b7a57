"""`%cowork …` asks the service for the right things."""

from __future__ import annotations

from typing import Any, cast

from cowork_jupyter.kernel.commands import _DO, Command
from cowork_jupyter.kernel.session import KernelSession

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


def test_without_a_name_the_last_run_that_changed_something_is_taken_back() -> None:
    service = Service()
    _DO["rollback"](Command(cast("KernelSession", service), None, []))
    assert service.asked[-1] == "POST checkpoints/cp1/rollback"
