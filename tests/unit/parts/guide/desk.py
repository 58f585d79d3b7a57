"""Lets the guide work: its calls go to the real tools, results back as the loop stores them."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import shlex
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cowork_jupyter.domain.errors import CoworkError
from cowork_jupyter.domain.messages import Answer, Message, MessageRole, MessageType
from cowork_jupyter.domain.plan import Plan
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.llm.chunks import Conversation
from cowork_jupyter.parts.guide.model import Guide
from cowork_jupyter.parts.guide.tables import Table, table_of
from cowork_jupyter.tools.base import ToolContext, ToolResult
from cowork_jupyter.tools.notebook.outputs import MAX_LENGTH, middle_cut
from cowork_jupyter.tools.registry import tools_with_kernels, tools_without_kernels
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


def write_notebook(path: Path, *sources: str, language: str = "python", **more: Any) -> None:
    """With cells c1, c2 and so on, which ran in this order."""
    cells = [
        {"id": f"c{n}", "cell_type": "code", "source": source, "metadata": {}, "outputs": []}
        | {"execution_count": n, **more}
        for n, source in enumerate(sources, 1)
    ]
    metadata = {"language_info": {"name": language}}
    document = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(document))


def known(path: str, text: str, encoding: str = "utf-8", lines: int | None = None) -> Table:
    """The table that the head of a file tells of."""
    table = table_of(path, text, encoding, lines)
    assert table
    return table


class Desk:
    """A workspace and the guide at work in it. Code runs in this process, which is quicker."""

    def __init__(
        self,
        folder: Path,
        packages: str = "pandas matplotlib sklearn pyarrow",
        *,
        scratch: bool = False,
        frames: Mapping[str, Any] | None = None,
    ) -> None:
        self.folder = folder
        self.packages = packages
        self.scratch = scratch
        self.frames = frames
        """DataFrames of the notebook's kernel; None if it has none."""
        self.guide = Guide()
        self.context_id = "c"
        self.tools: frozenset[str] | None = None
        """Instead of what the role may use."""
        self.inserted: frozenset[str] = frozenset()
        self.code_run: list[str] = []
        self.turns = 0
        self.calls: list[dict[str, Any]] = []
        self.outputs: list[str] = []
        self.questions: list[dict[str, Any]] = []
        without = tools_without_kernels(confined=scratch)
        self.registry = without if frames is None else tools_with_kernels()

    def having(self, files: Mapping[str, str]) -> Desk:
        """With these texts in its folder."""
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return self

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
        tools = self.tools or frozenset(one.name for one in self.registry.permitted(role))
        for turn in range(MAX_TURNS):
            own = [each.model_copy(update={"context_id": self.context_id}) for each in messages]
            known = Conversation(role, tools, notebook, plan, own, self.inserted, self.code_run)
            spoken = self.guide.reply(known)
            value = json.loads(spoken) if spoken.startswith("{") else {}
            if calls := value.get("tools", [value] if "tool" in value else []):
                self.turns += 1
                numbered = list(enumerate(calls, 100 * turn))
                messages += [call(at, one["tool"], one["parameters"]) for at, one in numbered]
                came = [result(at, self.run_tool(one, role)) for at, one in numbered]
                messages += reversed(came)  # they belong to their calls in any order
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
        if tool == "run_code" and self.scratch:
            return self._code(**parameters)
        if tool == "list_variables":
            return ToolResult("\n".join(f"{n}: pandas.DataFrame" for n in self.frames or ()), "")
        context = ToolContext(Workspace(self.folder), role)
        try:
            return asyncio.run(self.registry.call(tool, parameters, context))
        except CoworkError as error:
            return error

    def _code(self, code: str, where: str, tables: Sequence[str] = ()) -> ToolResult | CoworkError:
        assert where == "scratch"
        printed, failure = self._run(code, {name: (self.frames or {})[name] for name in tables})
        if failure:
            return CoworkError(failure, code="code_failed")
        return ToolResult(middle_cut(printed, MAX_LENGTH) + "\n[ran code]", "")

    def _command(self, command: str) -> ToolResult:
        words = shlex.split(command)
        if words[1] == "-c":
            return ToolResult(f"packages: {self.packages}\n", "", {"exit_code": 0})
        code = (self.folder / words[1]).read_text(encoding="utf-8")
        printed, failure = self._run(code, {"__name__": "__main__"}, words[1])
        if pyplot := sys.modules.get("matplotlib.pyplot"):
            pyplot.close("all")  # a program of its own would begin without figures
        if not failure:
            self.outputs.append(printed)
        return ToolResult(printed + failure, "", {"exit_code": int(bool(failure))})

    def _run(self, code: str, names: dict[str, Any], name: str = "scratch") -> tuple[str, str]:
        """What code has printed, and how it failed."""
        out = io.StringIO()
        try:
            with contextlib.chdir(self.folder), contextlib.redirect_stdout(out):
                exec(compile(code, name, "exec"), names)
        except Exception:
            return out.getvalue(), traceback.format_exc()
        return out.getvalue(), ""
