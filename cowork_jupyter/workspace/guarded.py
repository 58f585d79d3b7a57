"""The workspace as one approved call sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..domain.errors import Conflict, Forbidden
from .place import Place
from .workspace import Workspace


@dataclass(frozen=True)
class Pin:
    """Where a path led when the call was decided, and what was there."""

    places: frozenset[str]
    """The path as spelled, and where it really leads; relative to the workspace."""
    mark: str | None = None
    """`mark_of` the file, for calls that change it; None if that does not matter."""


class GuardedWorkspace(Workspace):
    """A workspace in which pinned paths must lead where they led, and hidden paths are refused."""

    def __init__(
        self, workspace: Workspace, pins: Mapping[str, Pin], hides: Callable[[str], bool]
    ) -> None:
        super().__init__(workspace.root)
        self._pins = pins
        self._hides = hides

    def locate(self, path: str, *, follow: bool = True) -> Place:
        """Raises Conflict if the path no longer leads to what was decided about."""
        place = super().locate(path, follow=follow)
        try:
            self._check(path, place)
        except BaseException:
            place.close()
            raise
        return place

    def _check(self, path: str, place: Place) -> None:
        pin = self._pins.get(path)
        if pin is None:
            if self._hides(place.path):
                raise Forbidden(f"'{place.path}' may not be read.", code="hidden")
            return
        moved = place.path not in pin.places
        if moved or pin.mark not in (None, mark_of(place)):
            raise Conflict(
                f"'{path}' has changed since this call was approved. Read it, then try again.",
                code="changed_since_decided",
                retryable=True,
            )


def mark_of(place: Place) -> str:
    """A value that changes once the file is replaced or written to."""
    if not place.exists():
        return "nothing"
    facts = place.stat()
    return f"{facts.st_ino}-{facts.st_size}-{facts.st_mtime_ns}-{facts.st_mode}"
