"""An agent whose every word is written down beforehand, at work in a Lab."""

from __future__ import annotations

import json
import time
import urllib.request
from typing import Any

from tests.scripted import ScriptedServer, call, text

from .lab import TOKEN, LabServer

LIMIT = 120.0


class Agent:
    """Calls tools as a model would, through the server's own API."""

    def __init__(self, lab: LabServer, model: ScriptedServer) -> None:
        self._lab = lab
        self._model = model

    def allow(self, *tools: str) -> None:
        """The user's word that these need no question."""
        for tool in tools:
            self.request("POST", "rules", {"effect": "allow", "rule": tool, "scope": "global"})

    def use(self, tool: str, **parameters: Any) -> dict[str, Any]:
        """Let the agent call one tool; the stored result message."""
        self._model.add(call(tool, **parameters), text("Done."))
        found: dict[str, Any] = next(
            one for one in reversed(self.run()) if one["message_type"] == "tool_result"
        )
        return found

    def run(self, notebook: str | None = None) -> list[dict[str, Any]]:
        """Let the agent do what the model has been told; all that was said then."""
        about = {"role": "actor", "notebook": notebook}
        self.context = self.request("POST", "context", about)["id"]
        sent = self.request("POST", f"context/{self.context}/messages", {"content": "Go"})
        give_up = time.monotonic() + LIMIT
        while self.request("GET", f"jobs/{sent['job_id']}")["status"] in ("running", "waiting"):
            assert time.monotonic() < give_up, "the job does not end"
            time.sleep(0.02)
        messages = self.request("GET", f"context/{self.context}/messages")["items"]
        return list(messages)

    def edit(self, path: str, cell_id: str, source: str) -> dict[str, Any]:
        """Read a cell, then give it another source."""
        return self.use(
            "edit_cell",
            path=path,
            cell_id=cell_id,
            fingerprint=self.fingerprint(path, cell_id),
            source=source,
        )

    def fingerprint(self, path: str, cell_id: str) -> str:
        """What the agent is told about a cell when it reads it."""
        shown = self.said(self.use("read_notebook", path=path, cell_id=cell_id))
        return shown.partition("fingerprint ")[2].partition("]")[0]

    @staticmethod
    def said(result: dict[str, Any]) -> str:
        """What the model reads of a result."""
        return str(result["content"][0]["text"])

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """Call the API as the user."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self._lab.port}/cowork/{path}",
            method=method,
            data=json.dumps(body).encode() if body is not None else None,
            headers={"Authorization": f"token {TOKEN}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=LIMIT) as answer:
            return json.loads(answer.read() or b"null")
