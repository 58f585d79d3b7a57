"""What the user let the agent read although it holds secrets: known here, not given to others."""

from __future__ import annotations

from collections.abc import Iterable

from ..domain.events import Event
from ..domain.message_data import ToolFacts, ToolResultData
from ..domain.messages import Message, TextPart
from ..domain.notices import ToolOutput

WITHHELD = "[hidden: it may contain secrets]"


def withhold(messages: Iterable[Message]) -> list[Message]:
    """The messages, with what came out of secret files left out."""
    return [_without_content(one) for one in messages]


def withhold_events(events: Iterable[Event], messages: Iterable[Message]) -> list[Event]:
    """The same for the events that carry those messages, or showed the output as it came."""
    known = (one.data for one in messages)
    calls = {one.call_id for one in known if isinstance(one, ToolResultData) and one.sensitive}
    return [_without_text(one, calls) for one in events]


def _without_content(message: Message) -> Message:
    match message.data:
        case ToolResultData(sensitive=True) as result:
            data = result.model_copy(update={"facts": ToolFacts()})
            return message.model_copy(update={"content": [TextPart(text=WITHHELD)], "data": data})
    return message


def _without_text(event: Event, calls: set[str]) -> Event:
    match event.data:
        case Message() as message:
            return event.model_copy(update={"data": _without_content(message)})
        case ToolOutput(call_id=call_id) as output if call_id in calls:
            return event.model_copy(update={"data": output.model_copy(update={"text": WITHHELD})})
    return event
