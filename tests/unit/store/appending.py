"""One event or message, stored in a transaction of its own and shown to nobody."""

from __future__ import annotations

from cowork_jupyter.domain.events import Event, EventData, Notice
from cowork_jupyter.domain.messages import Message
from cowork_jupyter.store import Store


def notice(message: str = "") -> Notice:
    return Notice(code="no_price", message=message)


def append_event(store: Store, context_id: str, data: EventData) -> Event:
    with store.transaction() as tx:
        return tx.append_event(context_id, data)


def append_message(store: Store, message: Message) -> Event:
    with store.transaction() as tx:
        return tx.append_message(message)
