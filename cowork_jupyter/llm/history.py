"""Selects the part of a long conversation that is sent to the model.

The store keeps everything; these pure functions choose the newest messages that fit a token budget.
Messages come newest first and are read only as far as they fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..domain.messages import CallData, Message, MessageType, TextPart, ToolResultData
from ..domain.plurals import count_of
from .tokens import Count, cut_middle

MESSAGE_TOKENS = 4
"""Overhead per message: role and separators."""
FRAME_TOKENS = 24
"""Overhead of a tool result: tool name and marks."""
IMAGE_TOKENS = 1_000
_RESULT_SHARE = 4
"""A single tool result takes at most budget / _RESULT_SHARE."""


_GAP = "note_gap_"
"""Id prefix of notes that stand for missing messages."""


@dataclass(frozen=True)
class _Piece:
    message: Message
    cost: int
    place: int = -1


_Unit = list[_Piece]
"""Messages that are kept or dropped together, newest first."""


def optimize_history_by_tokens(
    newest_first: Iterable[Message],
    budget: int,
    count: Count,
    *,
    goal: Message | None = None,
    plan: str | None = None,
    summary: str | None = None,
    total: int | None = None,
) -> list[Message]:
    """The newest messages that fit the budget, oldest first, after plan, goal and summary.

    A tool call and its result stay together, and so do calls of one turn; one without the other is
    dropped. A note marks each gap, with the number of messages if known (from `total` or from
    reading to the end). A message without text is read as its data in JSON; a tool result that is
    too long is cut in the middle. If goal, plan and the newest message alone exceed the budget,
    they are cut.
    """
    reading = _Reading(newest_first, budget // _RESULT_SHARE, count)
    top = _Top(goal, plan, summary, count)
    kept = _choose(reading, budget - top.cost, goal)
    history = _assemble(kept, top, reading, total)
    while sum(piece.cost for piece in history) > budget and _drop_oldest(kept, goal):
        history = _assemble(kept, top, reading, total)
    share = fair_share([piece.cost for piece in history], budget)
    return [
        piece.message if piece.cost <= share else _shorten(piece.message, share, count)
        for piece in history
    ]


def older_half(newest_first: Sequence[Message], budget: int, count: Count) -> list[Message]:
    """The messages that could be summarised: all but the newest that take half of the budget.

    Oldest first. No call is separated from its result.
    """
    waiting: set[str] = set()
    cost = kept = 0
    for number, message in enumerate(newest_first, 1):
        cost += min(cost_of(message, count), budget // _RESULT_SHARE)
        call_id = message.data.call_id if isinstance(message.data, CallData) else ""
        if message.message_type is MessageType.TOOL_RESULT:
            waiting.add(call_id)
        waiting -= {call_id} if message.message_type is MessageType.TOOL_CALL else set()
        if kept and cost > budget // 2:
            break
        kept = kept if waiting else number
    return list(reversed(newest_first[kept:])) if kept else []


class _Reading:
    def __init__(self, newest_first: Iterable[Message], result_limit: int, count: Count) -> None:
        self._messages = newest_first
        self._result_limit = result_limit
        self.count = count
        self.places = 0
        self.ended = False
        self.newest: _Piece | None = None

    def __iter__(self) -> Iterator[_Piece]:
        for message in self._messages:
            piece = self._measure(message)
            self.newest = self.newest or piece
            self.places += 1
            yield piece
        self.ended = True

    def _measure(self, message: Message) -> _Piece:
        cost = cost_of(message, self.count)
        if message.message_type is MessageType.TOOL_RESULT and cost > self._result_limit:
            message = _shorten(message, self._result_limit, self.count)
            cost = cost_of(message, self.count)
        return _Piece(message, cost, self.places)


class _Top:
    def __init__(
        self, goal: Message | None, plan: str | None, summary: str | None, count: Count
    ) -> None:
        self.goal = _Piece(goal, cost_of(goal, count)) if goal else None
        self.plan = self.summary = None
        if plan:
            message = _note("note_plan", plan, goal, MessageType.PLAN)
            self.plan = _Piece(message, cost_of(message, count))
        if summary:
            message = _note("note_summary", summary, goal)
            self.summary = _Piece(message, cost_of(message, count))

    @property
    def cost(self) -> int:
        return sum(piece.cost for piece in (self.goal, self.plan, self.summary) if piece)

    def above(self, pieces: list[_Piece]) -> list[_Piece]:
        """Those that are not among the pieces.

        The plan comes first: many prompts share it, and servers cache common prefixes.
        """
        message_ids = {piece.message.id for piece in pieces}
        top = (self.plan, self.goal, self.summary)
        return [each for each in top if each and each.message.id not in message_ids]


def _units(pieces: Iterable[_Piece]) -> Iterator[_Unit]:
    """Group tool results with their calls, and adjacent calls with each other.

    Going back in time a result comes before its call, so it waits until the call is found.
    """
    waiting: dict[str, _Piece] = {}
    turn: _Unit = []
    for piece in pieces:
        kind, about = piece.message.message_type, piece.message.data
        call_id = about.call_id if isinstance(about, CallData) else ""
        if kind is MessageType.TOOL_CALL:
            if call_id in waiting:
                turn += [waiting.pop(call_id), piece]
            continue
        if turn:
            yield sorted(turn, key=lambda each: each.place)
            turn = []
        if kind is MessageType.TOOL_RESULT:
            waiting.setdefault(call_id, piece)
        else:
            yield [piece]
    if turn:
        yield sorted(turn, key=lambda each: each.place)


def _choose(reading: _Reading, room: int, goal: Message | None) -> list[_Unit]:
    kept: list[_Unit] = []
    full = False
    for unit in _units(reading):
        cost = sum([piece.cost for piece in unit if not _is(piece, goal)])
        if unit[0].place == 0 or _is(unit[0], goal) or (not full and cost <= room):
            kept.append(unit)
            room -= cost
        else:
            full = True
        # The newest result counts most: look for its call even beyond what fits.
        if full and not _awaits_call(reading.newest, kept):
            break
    return kept


def _is(piece: _Piece, message: Message | None) -> bool:
    return message is not None and piece.message.id == message.id


def _awaits_call(newest: _Piece | None, kept: list[_Unit]) -> bool:
    if newest is None or newest.message.message_type is not MessageType.TOOL_RESULT:
        return False
    return all(unit[0].place > 0 for unit in kept)


def _drop_oldest(kept: list[_Unit], goal: Message | None) -> bool:
    older = [unit for unit in kept if unit[0].place > 0 and not _is(unit[0], goal)]
    if older:
        kept.remove(max(older, key=lambda unit: unit[0].place))
    return bool(older)


def _assemble(kept: list[_Unit], top: _Top, reading: _Reading, total: int | None) -> list[_Piece]:
    pieces = sorted((piece for unit in kept for piece in unit), key=lambda each: -each.place)
    history = top.above(pieces)
    place_count = reading.places if reading.ended else total
    # The goal is on top, so it does not count as missing.
    older = None if place_count is None else place_count - int(top.goal in history)
    for piece in pieces:
        gap = None if older is None else older - piece.place - 1
        if gap is None or gap > 0:
            history.append(_gap_note(gap, piece, reading))
        history.append(piece)
        older = piece.place
    return history


def has_gaps(history: Iterable[Message]) -> bool:
    return any(message.id.startswith(_GAP) for message in history)


def _gap_note(number: int | None, before: _Piece, reading: _Reading) -> _Piece:
    messages = count_of(number, "earlier message") if number else "earlier messages"
    note = _note(f"{_GAP}{before.message.id}", f"[{messages} left out]", before.message)
    return _Piece(note, cost_of(note, reading.count))


def _note(
    name: str, text: str, near: Message | None, kind: MessageType = MessageType.TEXT
) -> Message:
    """A message that is sent but never stored; `user`, because every chat template takes it."""
    return Message(
        id=name,
        context_id=near.context_id if near else "",
        role="user",
        message_type=kind,
        content=[TextPart(text=text)],
        created_at=near.created_at if near else "",
    )


def cost_of(message: Message, count: Count) -> int:
    return _cost_around(message) + count(_readable(message)) + len(message.pictures) * IMAGE_TOKENS


def _cost_around(message: Message) -> int:
    is_framed = message.message_type is MessageType.TOOL_RESULT
    return MESSAGE_TOKENS + FRAME_TOKENS if is_framed else MESSAGE_TOKENS


def _readable(message: Message) -> str:
    return message.text or message.data_as_text


def _shorten(message: Message, limit: int, count: Count) -> Message:
    pictures = message.pictures
    readable = _readable(message)
    if len(pictures) * IMAGE_TOKENS > limit // 2:
        pictures, readable = [], f"{readable}\n[its pictures are left out]"
    limit -= _cost_around(message) + len(pictures) * IMAGE_TOKENS
    tool = message.data.tool if isinstance(message.data, ToolResultData) else ""
    hint = (
        f"To see it, call {tool} again for a smaller part, for example fewer lines." if tool else ""
    )
    text = cut_middle(readable, limit, count, hint)
    return message.model_copy(update={"content": [TextPart(text=text or "…"), *pictures]})


def fair_share(costs: list[int], budget: int) -> int:
    """The limit per item so that all fit; small items leave their rest to the others."""
    for number, cost in enumerate(sorted(costs)):
        share = budget // (len(costs) - number)
        if cost > share:
            return share
        budget -= cost
    return max(costs, default=0)
