"""Lets the guide work: its calls go to the real tools, results back as the loop stores them."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import shlex
import traceback
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from cowork_jupyter.domain.errors import CoworkError
from cowork_jupyter.domain.message_data import Answer
from cowork_jupyter.domain.messages import Message, MessageRole, MessageType
from cowork_jupyter.domain.plan import Plan
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.guide import Guide
from cowork_jupyter.llm.chunks import Conversation
from cowork_jupyter.tools.base import ToolContext, ToolResult
from cowork_jupyter.tools.registry import default_tools
from cowork_jupyter.workspace import Workspace

MAX_TURNS = 40


def said(
    role: MessageRole, text: str, kind: MessageType = MessageType.TEXT, **data: Any
) -> Message:
    """A stored message."""
    return Message.model_validate(
        {"context_id": "c", "role": role, "message_type": kind, "content": text, "data": data}
    )


def step(action: str, goal: str = "", **fields: Any) -> Message:
    """The assignment of a step. Its words say nothing: they are for models."""
    facts = {"id": "1", "action": action, "step_number": 1, **fields}
    return said("user", "qwrt", MessageType.TASK_ASSIGNMENT, step=facts, goal=goal)


def call(number: int, tool: str, parameters: dict[str, Any]) -> Message:
    """A call of the guide's."""
    facts = {"call_id": f"call_{number}", "tool": tool, "parameters": parameters}
    return said("assistant", "", MessageType.TOOL_CALL, **facts)


def result(number: int, came: ToolResult | CoworkError) -> Message:
    """What came of that call."""
    error = came.as_dict() if isinstance(came, CoworkError) else None
    text, facts = ("qwrt", {}) if isinstance(came, CoworkError) else (came.text, came.data)
    stored = {"call_id": f"call_{number}", "ok": not error, "error": error, "facts": facts}
    return said("tool", text, MessageType.TOOL_RESULT, **stored)


def answer(number: int, question: str, value: str) -> Message:
    """What the user answers to a question."""
    facts = Answer(question_id=f"q_{number}", question=question, value=value, label=value)
    return said("user", value, MessageType.TEXT, answer=facts.model_dump())


def write_notebook(path: Path, *sources: str) -> None:
    cells = [
        {"id": f"c{n}", "cell_type": "code", "source": source, "metadata": {}, "outputs": []}
        for n, source in enumerate(sources)
    ]
    document = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(document))


class Desk:
    """A workspace and the guide at work in it. Scripts run in this process, which is quicker."""

    def __init__(self, folder: Path, packages: str = "pandas matplotlib sklearn pyarrow") -> None:
        self.folder = folder
        self.packages = packages
        self.calls: list[dict[str, Any]] = []
        self.outputs: list[str] = []
        self.questions: list[dict[str, Any]] = []
        self.registry = default_tools()

    def ask(
        self,
        request: str | Message,
        role: AgentRole = AgentRole.ACTOR,
        answers: Sequence[str] = (),
        notebook: str | None = None,
        plan: Plan | None = None,
    ) -> str:
        """The guide's last words, or its plan or result as JSON, after all calls it wanted."""
        waiting = list(answers)
        messages = [said("user", request) if isinstance(request, str) else request]
        tools = frozenset(tool.name for tool in self.registry.permitted(role))
        for turn in range(MAX_TURNS):
            spoken = Guide().reply(Conversation(role, tools, notebook, plan, messages))
            value = json.loads(spoken) if spoken.startswith("{") else {}
            if "tool" in value:
                messages += [call(turn, value["tool"], value["parameters"])]
                messages += [result(turn, self.run_tool(value, role))]
            elif value.get("type") == "question":
                self.questions.append(value)
                messages += [answer(turn, value["question"], waiting.pop(0))]
            else:
                return spoken
        raise AssertionError("the guide does not come to an end")

    def plan(self, text: str, answers: Sequence[str] = (), **more: Any) -> dict[str, Any]:
        """The plan that it makes."""
        made: dict[str, Any] = json.loads(self.ask(text, AgentRole.PLANNER, answers, **more))
        assert made["type"] == "plan"
        return made

    def step(self, action: str, answers: Sequence[str] = (), **more: Any) -> tuple[str, str]:
        """How a step ended, and what is said of it."""
        ended = json.loads(self.ask(step(action, **more), answers=answers))
        assert ended["type"] == "result"
        return ended["status"], ended["summary"]

    def run_tool(
        self, call: dict[str, Any], role: AgentRole = AgentRole.ACTOR
    ) -> ToolResult | CoworkError:
        """What comes of a call."""
        self.calls.append(call)
        tool, parameters = call["tool"], call["parameters"]
        if tool == "execute_command":
            return self._command(parameters["command"])
        context = ToolContext(Workspace(self.folder), role)
        try:
            return asyncio.run(self.registry.call(tool, parameters, context))
        except CoworkError as error:
            return error

    def _command(self, command: str) -> ToolResult:
        words = shlex.split(command)
        if words[1] == "-c":
            return _ran([f"packages: {self.packages}\n"], 0)
        code = (self.folder / words[1]).read_text(encoding="utf-8")
        out, before = io.StringIO(), Path.cwd()
        os.chdir(self.folder)
        try:
            with contextlib.redirect_stdout(out):
                exec(compile(code, words[1], "exec"), {"__name__": "__main__"})
        except Exception:
            return _ran([out.getvalue(), traceback.format_exc()], 1)
        finally:
            os.chdir(before)
        self.outputs.append(out.getvalue())
        return _ran([out.getvalue()], 0)


def _ran(output: Iterable[str], exit_code: int) -> ToolResult:
    return ToolResult("".join(output), "", {"exit_code": exit_code})
