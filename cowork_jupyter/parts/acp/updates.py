"""Stored messages and plans as updates of the protocol, the same live and when loaded."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acp import schema
from acp.helpers import (
    SessionUpdate,
    image_block,
    start_tool_call,
    text_block,
    tool_content,
    tool_diff_content,
    update_tool_call,
)

from ...domain.contexts import StepStatus
from ...domain.messages import (
    Answer,
    ErrorData,
    Message,
    QuestionData,
    ReviewData,
    TextData,
    ToolCallData,
    ToolResultData,
)
from ...domain.plan import Plan
from ...domain.roles import Permission
from ...domain.team import agent_of, rights_of
from ...policy.calls import paths_of
from ...record.account import call_title
from ...record.markdown import cut, fenced
from ...tools.base import Tool

MAX_LINES, MAX_CHARACTERS = 400, 20_000
"""Limits of a shown result; all of it is in the store."""
MAX_PLACES = 20
_MAX_TITLE = 120

Content = (
    schema.ContentToolCallContent | schema.FileEditToolCallContent | schema.TerminalToolCallContent
)

_DONE: dict[StepStatus, schema.PlanEntryStatus] = {
    StepStatus.RUNNING: "in_progress",
    StepStatus.WAITING: "in_progress",
    StepStatus.COMPLETED: "completed",
    StepStatus.SKIPPED: "completed",
}
"""The protocol has three states; the real one is in `_meta`."""


@dataclass(frozen=True)
class UpdateBuilder:
    workspace: Path
    tools: Mapping[str, Tool]

    def of_message(self, message: Message, message_id: str) -> Iterator[SessionUpdate]:
        """Nothing for messages that are only between us and the model."""
        match message.data:
            case ToolCallData() as call:
                yield self._call(call)
            case ToolResultData() as result:
                yield self._result(result, message.text)
            case TextData(answer=Answer(label=label)):
                yield _user_message(text_block(label), message_id)
            case TextData() if message.role == "user" and message.task_id is None:
                yield _user_message(text_block(message.text), message_id)
                for picture in message.pictures:
                    yield _user_message(image_block(picture.data, picture.media_type), message_id)
            case TextData(reasoning=thought) if message.role == "assistant":
                if thought:
                    yield agent_thought(f"{thought}\n\n", message_id)
                if message.text:
                    yield agent_message(f"{message.text}\n\n", message_id)
            case ReviewData() as review:
                yield agent_message(f"{review.text}\n\n", message_id)
            case QuestionData() | ErrorData():
                yield agent_message(f"{message.text}\n\n", message_id)

    def title(self, tool: str, parameters: Mapping[str, Any]) -> str:
        command = parameters.get("command")
        line = " ".join(f"`{command}`".split()) if command else call_title(tool, parameters)
        return line if len(line) <= _MAX_TITLE else f"{line[: _MAX_TITLE - 1]}…"

    def kind(self, name: str) -> schema.ToolKind:
        """Derived from the tool's permissions."""
        tool = self.tools.get(name)
        if tool is None:
            return "other"
        if Permission.EXECUTE_COMMANDS in tool.permissions:
            return "execute"
        if Permission.DELETE_FILES in tool.permissions:
            return "delete"
        if tool.permissions & {Permission.WRITE_FILES, Permission.CREATE_FILES}:
            return "edit"
        if tool.category == "search":
            return "search"
        return "read" if tool.permissions else "other"

    def places(self, paths: Iterable[Any], line: object = None) -> list[schema.ToolCallLocation]:
        found = [path for path in dict.fromkeys(paths) if isinstance(path, str)][:MAX_PLACES]
        number = line if isinstance(line, int) and line > 0 else None
        return [schema.ToolCallLocation(path=self.absolute(path), line=number) for path in found]

    def absolute(self, path: str) -> str:
        return os.path.normpath(self.workspace / path)

    def changes(self, path: str, unified: str) -> list[Content]:
        """A unified diff as the protocol's old and new texts, one pair per hunk."""
        place = self.absolute(path)
        return [tool_diff_content(place, new, old) for old, new in hunks(unified)]

    def _call(self, call: ToolCallData) -> SessionUpdate:
        parameters = call.parameters
        paths = paths_of(parameters)
        return start_tool_call(
            call.call_id,
            self.title(call.tool, parameters),
            kind=self.kind(call.tool),
            status="in_progress",
            locations=self.places(paths, parameters.get("start_line")) or None,
            raw_input=parameters,
        )

    def _result(self, result: ToolResultData, text: str) -> SessionUpdate:
        facts = result.facts
        content: list[Content] = []
        if facts.diff and facts.paths:
            content = self.changes(facts.paths[0], facts.diff)
        return update_tool_call(
            result.call_id,
            status="completed" if result.ok else "failed",
            content=content or [output(text)],
            locations=self.places(facts.paths) or None,
            raw_output=result.model_dump(include={"summary", "error"}),
        )


def agent_message(text: str, message_id: str) -> schema.AgentMessageChunk:
    return schema.AgentMessageChunk(
        session_update="agent_message_chunk", content=text_block(text), message_id=message_id
    )


def agent_thought(text: str, message_id: str) -> schema.AgentThoughtChunk:
    """To a client, reasoning is a message of its own."""
    return schema.AgentThoughtChunk(
        session_update="agent_thought_chunk",
        content=text_block(text),
        message_id=f"{message_id}.thought",
    )


def _user_message(
    content: schema.TextContentBlock | schema.ImageContentBlock, message_id: str
) -> schema.UserMessageChunk:
    return schema.UserMessageChunk(
        session_update="user_message_chunk", content=content, message_id=message_id
    )


def output(text: str) -> Content:
    """A tool's result in a fence that its content cannot close."""
    return tool_content(text_block(fenced(cut(text, MAX_LINES, MAX_CHARACTERS))))


def hunks(unified: str) -> Iterator[tuple[str | None, str]]:
    """Old and new text of each hunk; None as old text for a new file."""
    for part in re.split(r"^@@.*\n", unified, flags=re.MULTILINE)[1:]:
        texts = {"-": "", "+": ""}
        sides: tuple[str, ...] = ()
        for line in part.split("\n")[:-1]:
            if line.startswith("\\"):  # no newline at the end of the line before
                texts |= {side: texts[side].removesuffix("\n") for side in sides}
            else:
                sides = ("-", "+") if line[:1] == " " else (line[:1],)
                texts |= {side: f"{texts[side]}{line[1:]}\n" for side in sides}
        yield texts["-"] or None, texts["+"]


def plan_update(
    plan: Plan, revision: int, failures: Mapping[str, str | None]
) -> schema.AgentPlanUpdate:
    """The whole plan. What the protocol has no fields for is in `_meta`."""
    entries = [
        schema.PlanEntry(
            content=step.action,
            priority="medium",
            status=_DONE.get(step.status, "pending"),
            field_meta={
                "id": step.id,
                "dependsOn": step.depends_on,
                "status": step.status.value,
                "reason": step.reason,
                "tools": step.tools_needed,
                "files": step.files,
                "error": failures.get(step.id),
                "role": step.runs_as.value,
                "agent": agent_of(step),
                "rounds": step.rounds,
            },
        )
        for step in plan.steps
    ]
    rights = rights_of(plan)
    meta = {"goal": plan.goal, "revision": revision, **({"rights": rights} if rights else {})}
    return schema.AgentPlanUpdate(session_update="plan", entries=entries, field_meta=meta)
