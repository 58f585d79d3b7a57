"""Silenced warnings: by code for a cell, a notebook or everywhere, which is stored in the user's
settings, or by a comment in the code.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ValidationError

from ..domain.effects import DataWarning
from ..policy.settings_file import SettingsFile
from ..workspace import Workspace

_COMMENT = re.compile(r"#\s*cowork:\s*ignore(?:\[([\w\s,]*)\])?", re.IGNORECASE)


@dataclass(frozen=True)
class Silenced:
    cell: Collection[str] = ()
    notebook: Collection[str] = ()
    everywhere: Collection[str] = ()

    def covers(self, code: str) -> bool:
        return code in self.cell or code in self.notebook or code in self.everywhere


def without_silenced(
    warnings: Sequence[DataWarning], code: str, silenced: Silenced
) -> list[DataWarning]:
    """The warnings about this code that are to be shown.

    `# cowork: ignore` on a line silences its warnings, on the first line those of the whole cell;
    `# cowork: ignore[no_seed, copy_changed]` only these.
    """
    lines = code.splitlines()
    first = next((line for line in lines if line.strip()), "")

    def is_shown(warning: DataWarning) -> bool:
        place = warning.line or 0
        own = lines[place - 1] if 0 < place <= len(lines) else ""
        is_ignored = _is_ignored(first, warning.code) or _is_ignored(own, warning.code)
        return not is_ignored and not silenced.covers(warning.code)

    return list(filter(is_shown, warnings))


def _is_ignored(line: str, code: str) -> bool:
    comment = _COMMENT.search(line)
    if comment is None:
        return False
    return comment[1] is None or code in map(str.strip, comment[1].split(","))


SECTION = "silenced_warnings"
SilenceScope = Literal["cell", "notebook", "everywhere"]


class _Kept(BaseModel):
    everywhere: list[str] = []
    notebooks: dict[str, list[str]] = {}
    cells: dict[str, list[str]] = {}


def place_of(workspace: Workspace, notebook: str | None) -> str:
    """Key of a notebook: two workspaces may have one of the same name."""
    return str(workspace.root / notebook) if notebook else ""


class SilencedWarnings:
    def __init__(self, user_settings: Path | None) -> None:
        self._file = SettingsFile(user_settings) if user_settings else None

    def of(self, workspace: Workspace, notebook: str | None, cell_id: str | None) -> Silenced:
        kept = self._kept()
        return Silenced(
            cell=kept.cells.get(cell_id or "", ()),
            notebook=kept.notebooks.get(place_of(workspace, notebook), ()),
            everywhere=kept.everywhere,
        )

    def set(
        self, code: str, scope: SilenceScope, place: str | None, *, silenced: bool = True
    ) -> None:
        kept = self._kept().model_copy(deep=True)
        of_scope = {"cell": kept.cells, "notebook": kept.notebooks}.get(scope)
        codes = kept.everywhere if of_scope is None else of_scope.setdefault(place or "", [])
        if code in codes:
            codes.remove(code)
        if silenced:
            codes.append(code)
        if of_scope is not None and not codes:
            del of_scope[place or ""]
        if self._file:
            self._file.set(SECTION, kept.model_dump(exclude_defaults=True) or None)

    def _kept(self) -> _Kept:
        """An invalid section silences nothing."""
        try:
            return _Kept.model_validate(self._file.content().get(SECTION, {}) if self._file else {})
        except ValidationError:
            return _Kept()


NO_SETTINGS = SilencedWarnings(None)
