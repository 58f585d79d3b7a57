"""What a request to a model consists of beside its messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ...domain.messages import Mention, Message, TextData, TextPart, ToolCallData, ToolResultData
from ...domain.settings import PromptProfile, ToolProtocol
from ...llm.chunks import Conversation
from ...tools.base import SCRATCH
from ..log import RunLog
from .history import current_plan


@dataclass(frozen=True)
class RequestForm:
    system: str
    protocol: ToolProtocol = "json"
    profile: PromptProfile = "full"
    arguments: dict[str, Any] = field(default_factory=dict)
    tools: frozenset[str] = frozenset()
    memory: str = ""
    """What is remembered of the workspace; the prompt contains it too."""
    runs_code: bool = False
    """Whether a block of Python in a reply is a call of `run_code`."""

    @property
    def is_native(self) -> bool:
        """Whether calls and results use the API's own form."""
        return "tools" in self.arguments


def conversation_of(log: RunLog, form: RequestForm) -> Conversation:
    revision = current_plan(log)
    messages = log.journal.store.job_messages(log.job_id)
    return Conversation(
        role=log.role,
        tools=form.tools,
        notebook=log.notebook,
        plan=revision.plan if revision else None,
        messages=[_in_words(message) for message in messages if message.task_id == log.task_id],
        inserted=inserted_cells(messages),
        code_run=code_run(messages),
        memory=form.memory,
    )


def _in_words(message: Message) -> Message:
    mentions = message.data.mentions if isinstance(message.data, TextData) else []
    if not mentions:
        return message
    text = message.text
    for mention in mentions:
        text = text.replace(mention.text, _name_of(mention))
    return message.model_copy(update={"content": [TextPart(text=text), *message.pictures]})


def _name_of(mention: Mention) -> str:
    name = mention.text[1:].replace('"', "")
    return name.partition(".")[2] if mention.kind == "column" else name


def inserted_cells(messages: Sequence[Message]) -> frozenset[str]:
    results = [message.data for message in messages if isinstance(message.data, ToolResultData)]
    inserted = [
        result.facts.cell_id for result in results if result.ok and result.tool == "insert_cell"
    ]
    return frozenset(filter(None, inserted))


def code_run(messages: Sequence[Message]) -> list[str]:
    """Code that ran successfully in the user's kernel, but in no cell."""
    calls = [message.data for message in messages if isinstance(message.data, ToolCallData)]
    code = {
        call.call_id: call.parameters.get("code", "")
        for call in calls
        if call.tool == "run_code" and call.parameters.get("where") != SCRATCH
    }
    results = [message.data for message in messages if isinstance(message.data, ToolResultData)]
    return [str(code[result.call_id]) for result in results if result.ok and result.call_id in code]
