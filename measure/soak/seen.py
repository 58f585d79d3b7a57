"""What a client was shown of a conversation, held against what the record says later."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

Event = dict[str, Any]
Stream = tuple[str | None, str | None, str]
"""Job, task and type: pieces of one text come in order under these."""
PIECES = ("text-delta", "reasoning-delta")


def _facts(event: Event) -> Any:
    """What stays as it was shown. Of a message more may become known, its words are final."""
    data = event["data"]
    return (data["id"], data["content"]) if event["type"] == "message" else data


@dataclass
class Seen:
    """One conversation, as far as its events have come."""

    last: int = 0
    events: dict[int, tuple[str, Any]] = field(default_factory=dict)
    texts: dict[Stream, str] = field(default_factory=dict)
    """Joined, because the record may hold in one piece what came in many."""

    def take(self, event: Event) -> str:
        """Note an event; says what is wrong with its place, if something is."""
        wrong = "" if event["seq"] > self.last else f"event {event['seq']} came after {self.last}"
        self.last = max(self.last, event["seq"])
        if event["type"] in PIECES:
            stream = (event["job_id"], event["task_id"], event["type"])
            self.texts[stream] = self.texts.get(stream, "") + event["data"]["text"]
        else:
            self.events[event["seq"]] = event["type"], _facts(event)
        return wrong

    def copy(self) -> Seen:
        return Seen(self.last, dict(self.events), dict(self.texts))


def missing(shown: Seen, stored: Iterable[Event]) -> Iterator[str]:
    """Where the record does not hold what was shown."""
    kept = Seen()
    for event in stored:
        if wrong := kept.take(deepcopy(event)):
            yield f"in the record, {wrong}"
    for seq, (kind, facts) in shown.events.items():
        found = kept.events.get(seq)
        if found is None:
            yield f"{kind} {seq} was shown and is not in the record"
        elif found != (kind, facts):
            yield f"{kind} {seq} was shown as {facts} and is stored as {found}"
    for stream, text in shown.texts.items():
        if not kept.texts.get(stream, "").startswith(text):
            yield f"of {stream} was shown {text!r}, stored is {kept.texts.get(stream)!r}"
