"""Pinned expectations: kept in the notebook's metadata, or in a file of the workspace.

Only the user's own requests come here. No tool writes them, and tools that write these files ask.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from ..domain.errors import CoworkError, InvalidInput, NotFound
from ..domain.expectations import Expectation, expectation_problem
from ..tools.notebook.state import Edit, Notebooks
from ..workspace import Workspace

KEY = "expectations"
FILE = ".cowork/expectations.json"
"""For conversations without a notebook."""
MAX_PINNED = 500
_MAX_SIZE = 4 * 1024 * 1024


@dataclass
class PinnedExpectations:
    """Reads and changes them. Invalid entries, written by hand, are left alone."""

    notebooks: Notebooks
    workspace: Workspace
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def all(self, notebook: str | None) -> list[Expectation]:
        expectations = map(_as_expectation, await self._read(notebook))
        return [expectation for expectation in expectations if expectation is not None]

    async def pin(self, notebook: str | None, expectation: Expectation) -> Expectation:
        problem = expectation_problem(expectation)
        if problem:
            raise InvalidInput(f"{problem}.", code="invalid_expectation")
        written = as_written(expectation)
        async with self._one_at_a_time:
            kept = await self._read(notebook)
            places = [place for place, raw in enumerate(kept) if _id(raw) == expectation.id]
            if places:
                kept[places[0]] = written
            elif len(kept) >= MAX_PINNED:
                raise InvalidInput(f"There are {MAX_PINNED} already. Remove some first.")
            else:
                kept.append(written)
            await self._write(notebook, kept)
        return expectation

    async def remove(self, notebook: str | None, expectation_id: str) -> None:
        async with self._one_at_a_time:
            kept = await self._read(notebook)
            rest = [raw for raw in kept if _id(raw) != expectation_id]
            if len(rest) == len(kept):
                raise NotFound(f"There is no expectation '{expectation_id}'.")
            await self._write(notebook, rest)

    async def _read(self, notebook: str | None) -> list[Any]:
        if notebook is None:
            return await asyncio.to_thread(self._read_file) if self._has_file() else []
        state = await self.notebooks.glance(self.workspace, notebook)
        state = state or await self.notebooks.read(self.workspace, notebook)
        kept = state.cowork.get(KEY)
        return list(kept) if isinstance(kept, list) else []

    async def _write(self, notebook: str | None, kept: list[Any]) -> None:
        if notebook is None:
            await asyncio.to_thread(self._write_file, kept)
        else:
            edit = Edit("metadata", metadata={KEY: kept})
            await self.notebooks.change(self.workspace, notebook, edit)

    def _has_file(self) -> bool:
        """Most workspaces have none, so do not spend a thread on it."""
        with self.workspace.locate(FILE) as place:
            return place.exists()

    def _read_file(self) -> list[Any]:
        with self.workspace.locate(FILE) as place:
            try:
                kept = json.loads(place.read(_MAX_SIZE))
            except ValueError:
                raise CoworkError(f"{FILE} is not valid JSON. Repair or remove it.") from None
        return kept if isinstance(kept, list) else []

    def _write_file(self, kept: list[Any]) -> None:
        data = f"{json.dumps(kept, ensure_ascii=False, indent=2)}\n".encode()
        with self.workspace.locate(FILE) as place:
            (place.replace if place.exists() else place.create)(data)


def as_written(expectation: Expectation) -> dict[str, Any]:
    written: dict[str, Any] = expectation.model_dump(mode="json", exclude_none=True)
    if expectation.check in ("unique", "no_missing", "matched"):
        written.pop("op")
    return written


def _as_expectation(raw: Any) -> Expectation | None:
    try:
        expectation = Expectation.model_validate(raw)
    except ValidationError:
        return None
    return None if expectation_problem(expectation) else expectation


def _id(raw: Any) -> Any:
    return raw.get("id") if isinstance(raw, dict) else None
