"""What a model reads beside the conversation: the notebook note, and what messages mention."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from ...domain.mentions import Mention
from ...domain.message_data import TextData
from ...domain.messages import ImagePart, Message
from ...llm.frames import Frame
from ...llm.vision import with_pictures
from ...policy.visible import spell_hidden
from ..log import RunLog

_TABLES = ("variable", "column", "file")
"""Kinds of mentions that can be tables."""


class MessageMentions(Protocol):
    mentions: list[Mention]
    pictures: list[ImagePart]
    guidance: str
    """Instructions for the agent; unlike the rest, trusted."""

    @property
    def text(self) -> str:
        """For the model; contains untrusted text."""


LookUp = Callable[[Message, int], Awaitable[MessageMentions]]


class Asides:
    """The asides of one run, framed as untrusted data."""

    def __init__(self, log: RunLog, frame: Frame, note: str) -> None:
        self._log = log
        self._frame = frame
        self._text = note
        self.note = self._framed(note) if note else None
        self._mentioned: dict[str, Message] = {}
        """By the id of the message that mentions them."""

    @property
    def text(self) -> str:
        """Everything, as a source for figures."""
        return "\n\n".join([self._text, *(aside.text for aside in self._mentioned.values())])

    async def look_up(self, message: Message, find: LookUp, room: int) -> bool:
        """Resolve the mentions of a message and store them with it; True if one is a table."""
        assert isinstance(message.data, TextData)
        found = await find(message, room)
        content = []
        if found.guidance:
            content += self._log.message("system", spell_hidden(found.guidance)).content
        if found.mentions:
            content += self._framed(found.text, found.pictures).content
            data = message.data.model_copy(update={"mentions": found.mentions})
            with self._log.journal.transaction() as tx:
                tx.save_message_data(message.model_copy(update={"data": data}))
        if content:
            aside = self._log.message("system", "").model_copy(update={"content": content})
            self._mentioned[message.id] = aside
        return any(mention.kind in _TABLES and mention.tokens for mention in found.mentions)

    def mentioned(self, pictures: int) -> dict[str, Message]:
        newest_first = with_pictures(reversed(self._mentioned.values()), pictures)
        return dict(zip(reversed(self._mentioned), newest_first, strict=True))

    def _framed(self, text: str, pictures: Sequence[ImagePart] = ()) -> Message:
        aside = self._log.message("system", self._frame.around(spell_hidden(text)))
        return aside.model_copy(update={"content": [*aside.content, *pictures]})


def inserted(history: list[Message], before: str, aside: Message) -> list[Message]:
    """The history with the aside just before that message, or at its beginning."""
    ids = [message.id for message in history]
    place = ids.index(before) if before in ids else 0
    return [*history[:place], aside, *history[place:]]
