"""Steering: messages sent while the agent works, which it reads before its next turn."""

from __future__ import annotations

from ...domain.contexts import QueuedMessage
from ...domain.errors import Conflict, NotFound
from ...domain.events import QueueChanged
from ...domain.messages import Message
from ...llm.frames import Frame
from ...policy.visible import spell_hidden
from ...store import Transaction
from ...store.journal import Journal
from ..foreign import FollowedResources
from ..log import RunLog


def queue_message(journal: Journal, context_id: str, content: str) -> QueuedMessage:
    """Queue a message for the next turn of the running job. Raises Conflict if none runs."""
    journal.store.context(context_id)
    message = QueuedMessage(context_id=context_id, content=content)
    with journal.transaction() as tx:
        if tx.active_job(context_id) is None:
            why = "No run is in progress in this conversation. Send it as a message."
            raise Conflict(why, code="not_running")
        tx.save_queued_message(message)
        _tell(tx, context_id)
    return message


def take_back(journal: Journal, context_id: str, message_id: str) -> None:
    with journal.transaction() as tx:
        if message_id not in [message.id for message in tx.queued_messages(context_id)]:
            raise NotFound("The agent has already read this message.")
        tx.delete_queued_messages([message_id])
        _tell(tx, context_id)


def read_queued(log: RunLog) -> list[Message]:
    """Turn queued messages into the user's next words in this run. Tasks leave them to the main
    run.
    """
    store = log.journal.store
    if log.task_id or not store.queued_messages(log.context_id):
        return []
    with log.journal.transaction() as tx:
        messages = [log.message("user", text) for text in clear_queue(tx, log.context_id)]
        for message in messages:
            tx.append_message(message)
    return messages


def clear_queue(tx: Transaction, context_id: str) -> list[str]:
    """Empty the queue; returns its messages, oldest first."""
    queued = tx.queued_messages(context_id)
    if queued:
        tx.delete_queued_messages([message.id for message in queued])
        _tell(tx, context_id)
    return [message.content for message in queued]


def _tell(tx: Transaction, context_id: str) -> None:
    changed = QueueChanged(waiting=len(tx.queued_messages(context_id)))
    tx.append_event(context_id, changed)


_CHANGED = (
    "Resources have changed since they were read. Read them again if you rely on them:\n{resources}"
)


def say_changes(log: RunLog, resources: FollowedResources, frame: Frame) -> None:
    if changed := resources.next_changes():
        framed = frame.around(spell_hidden("\n".join(changed)))
        log.say("system", _CHANGED.format(resources=framed))
