"""A browser tab for the tests: speaks on the real socket, and keeps documents of its own."""

from __future__ import annotations

import asyncio
import copy
import json
from typing import Any

from cowork_jupyter.domain.errors import Conflict, NotFound
from cowork_jupyter.hosts.server.notebooks import join_lines, texts
from cowork_jupyter.tools.notebook.stored import apply, outputs_of, state_of


class FakeTab:
    """Answers as the page does, unless it is told to be silent."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket
        self.documents: dict[str, dict[str, Any]] = {}
        self.unsaved: set[str] = set()
        self.active: dict[str, str] = {}
        self.asked: list[dict[str, Any]] = []
        self.silent = False
        self.typing: list[str] = []
        """What the user types into the first cell, each just before the page is told to replace
        its content."""
        self.part = 100_000
        self._listening = asyncio.ensure_future(self._listen())

    async def show(self, *, current: str = "", focused: bool = True) -> None:
        """Tell the server which notebooks are open. When it has taken that in is its own affair."""
        documents = [{"path": path, "current": path == current} for path in self.documents]
        await self._say({"type": "documents", "documents": documents, "focused": focused})

    async def open(self, path: str, document: dict[str, Any], *, focused: bool = True) -> None:
        self.documents[path] = copy.deepcopy(document)
        await self.show(current=path, focused=focused)

    async def close(self) -> None:
        self._socket.close()
        await asyncio.wait([self._listening])

    def sources(self, path: str) -> list[str]:
        return [cell.source for cell in state_of(path, self.documents[path]).cells]

    async def _listen(self) -> None:
        while (message := await self._socket.read_message()) is not None:
            asked = json.loads(message)
            if asked["type"] != "question":
                continue
            self.asked.append(asked)
            if not self.silent:
                await self._answer(asked["id"], self._answer_to(asked))

    async def _answer(self, number: int, answer: dict[str, Any]) -> None:
        text = json.dumps(answer)
        parts = [text[at : at + self.part] for at in range(0, len(text), self.part)]
        for part in parts:
            await self._say(
                {"type": "answer", "question": number, "part": part, "last": part is parts[-1]}
            )

    async def _say(self, message: dict[str, Any]) -> None:
        await self._socket.write_message(json.dumps(message))

    def _answer_to(self, asked: dict[str, Any]) -> dict[str, Any]:
        path = asked["path"]
        document = self.documents.get(path)
        if document is None:
            return {"ok": False, "code": "not_open"}
        if asked["op"] == "outputs":
            found = outputs_of(path, document, asked["cell_id"])
            return {"ok": True, "outputs": found}
        if asked["op"] in ("read", "glance"):
            cells = [
                {"id": cell.id, "cell_type": cell.cell_type, "source": cell.source,
                 "execution_count": cell.execution_count, "outputs": cell.outputs,
                 "tags": cell.tags}
                for cell in state_of(path, document).cells
            ]  # fmt: skip
            facts = {"unsaved": path in self.unsaved, "active": self.active.get(path)}
            facts |= {"cowork": document["metadata"].get("cowork")}
            return {"ok": True, "cells": cells, "language": "python", **facts}
        if asked["op"] == "change":
            return self._change(path, document, asked["edit"])
        if asked["op"] == "replace":
            return self._replace(path, document, asked)
        unsaved = path in self.unsaved
        return {"ok": True, "unsaved": unsaved, "content": document if unsaved else None}

    def _replace(
        self, path: str, document: dict[str, Any], asked: dict[str, Any]
    ) -> dict[str, Any]:
        if self.typing:
            document["cells"][0]["source"] = self.typing.pop(0)
        now = texts(join_lines(document))
        if asked["expected"] not in (None, now):
            return {"ok": False, "code": "document_changed", "texts": now}
        if "content" in asked:
            self.documents[path] = asked["content"]
        else:
            known = {cell["id"]: cell for cell in document["cells"]}
            document["cells"] = [{**known.get(cell["id"], {}), **cell} for cell in asked["cells"]]
        return {"ok": True, "unsaved": path in self.unsaved}

    def _change(self, path: str, document: dict[str, Any], raw: dict[str, Any]) -> dict[str, Any]:
        from cowork_jupyter.tools.notebook.state import Edit

        try:
            apply(path, document, Edit(**raw))
        except Conflict:
            cell = state_of(path, document).cell(raw["cell_id"])
            told = {"id": cell.id, "cell_type": cell.cell_type, "source": cell.source}
            return {"ok": False, "code": "stale_cell", "cell": told}
        except NotFound:
            return {"ok": False, "code": "no_such_cell", "cell_id": raw["cell_id"]}
        return {"ok": True, "unsaved": path in self.unsaved}
