"""What the user let the agent read although it holds secrets: known here, not given to others."""

from __future__ import annotations

from collections.abc import Iterable

from ..domain.events import Event, EventType
from ..domain.messages import Message, TextPart

WITHHELD = "[left out: it may hold secrets]"


def withhold(messages: Iterable[Message]) -> list[Message]:
    """The messages, with what came out of secret files left out."""
    return [_without_content(one) if one.data.get("sensitive") else one for one in messages]


def withhold_events(events: Iterable[Event], messages: Iterable[Message]) -> list[Event]:
    """The same for the events that carry those messages, or showed the output as it came."""
    calls = {one.data.get("call_id") for one in messages if one.data.get("sensitive")}
    return [_without_text(one) if _tells_of(one, calls) else one for one in events]


def _tells_of(event: Event, calls: set[str | None]) -> bool:
    about = event.data.get("data", {}) if event.type is EventType.MESSAGE else event.data
    told = event.type in (EventType.MESSAGE, EventType.NOTICE)
    return told and "call_id" in about and about["call_id"] in calls


def _without_content(message: Message) -> Message:
    data = {**message.data, "facts": {}}
    return message.model_copy(update={"content": [TextPart(text=WITHHELD)], "data": data})


def _without_text(event: Event) -> Event:
    if event.type is EventType.NOTICE:
        return event.model_copy(update={"data": {**event.data, "text": WITHHELD}})
    message = Message.model_validate(event.data)
    if not message.data.get("sensitive"):
        return event
    return event.model_copy(update={"data": _without_content(message).model_dump(mode="json")})
