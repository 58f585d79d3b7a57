"""One event or message, stored in a transaction of its own and shown to nobody."""

from __future__ import annotations

from typing import Any

from cowork_jupyter.domain.events import Event, EventType
from cowork_jupyter.domain.messages import Message
from cowork_jupyter.store import Store


def append_event(store: Store, context_id: str, kind: EventType, data: dict[str, Any]) -> Event:
    with store.transaction() as tx:
        return tx.append_event(context_id, kind, data)


def append_message(store: Store, message: Message) -> Event:
    with store.transaction() as tx:
        return tx.append_message(message)
