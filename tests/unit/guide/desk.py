"""Lets the guide work: its calls go to the real tools, results back as the loop tells them."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import shlex
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cowork_jupyter.domain.errors import CoworkError
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.guide import Guide
from cowork_jupyter.tools.base import ToolContext
from cowork_jupyter.tools.registry import default_tools
from cowork_jupyter.workspace import Workspace

MOST_TURNS = 40


class Desk:
    """A workspace and the guide at work in it. Scripts run in this process, which is quicker."""

    def __init__(self, folder: Path, packages: str = "") -> None:
        self.folder = folder
        self.packages = packages
        self.calls: list[dict[str, Any]] = []
        self.outputs: list[str] = []
        self.questions: list[dict[str, Any]] = []
        self.registry = default_tools()

    def ask(
        self,
        text: str,
        role: AgentRole = AgentRole.ACTOR,
        answers: Sequence[str] = (),
        notebook: str | None = None,
    ) -> str:
        """The guide's last words, or its plan as JSON, after all calls it wanted."""
        waiting = list(answers)
        facts = f"\n# Facts\n- notebook: {notebook}\n" if notebook else ""
        messages: list[dict[str, Any]] = [
            {"role": "system", "content": facts},
            {"role": "user", "content": text},
        ]
        tools = [tool.name for tool in self.registry.permitted(role)]
        for _turn in range(MOST_TURNS):
            said = Guide().reply(messages, role, tools)
            messages.append({"role": "assistant", "content": said})
            value = json.loads(said) if said.startswith("{") else {}
            if "tool" in value:
                messages.append({"role": "user", "content": self._called(value, role)})
            elif value.get("type") == "question":
                self.questions.append(value)
                answer = f"Answer to “{value['question']}”: {waiting.pop(0)}"
                messages.append({"role": "user", "content": answer})
            else:
                return said
        raise AssertionError("the guide does not come to an end")

    def plan(self, text: str, answers: Sequence[str] = (), **more: Any) -> dict[str, Any]:
        """The plan that it makes."""
        made: dict[str, Any] = json.loads(self.ask(text, AgentRole.PLANNER, answers, **more))
        assert made["type"] == "plan"
        return made

    def _called(self, call: dict[str, Any], role: AgentRole) -> str:
        self.calls.append(call)
        tool, parameters = call["tool"], call["parameters"]
        if tool == "execute_command":
            return f"Result of {tool}:\n{self._command(parameters['command'])}"
        context = ToolContext(Workspace(self.folder), role)
        try:
            result = asyncio.run(self.registry.call(tool, parameters, context))
        except CoworkError as error:
            return f"Result of {tool} (failed):\nError: {error.message}"
        return f"Result of {tool}:\n{result.text or '(nothing)'}"

    def _command(self, command: str) -> str:
        words = shlex.split(command)
        if words[1] == "-c":
            return f"packages: {self.packages}\n[exit code 0]"
        code = (self.folder / words[1]).read_text(encoding="utf-8")
        out, before = io.StringIO(), Path.cwd()
        os.chdir(self.folder)
        try:
            with contextlib.redirect_stdout(out):
                exec(compile(code, words[1], "exec"), {"__name__": "__main__"})
        except Exception:
            return f"{out.getvalue()}{traceback.format_exc()}[exit code 1]"
        finally:
            os.chdir(before)
        self.outputs.append(out.getvalue())
        return f"{out.getvalue()}[exit code 0]"
