"""One question to the model: the history that fits, the answer as it streams."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Protocol

from ...domain.connection import BUILT_IN
from ...domain.mentions import Mention
from ...domain.message_data import TextData
from ...domain.messages import ImagePart, Message, TextPart
from ...domain.notices import Notice
from ...domain.replies import ToolCalls
from ...domain.roles import AgentRole
from ...domain.settings import ToolProtocol
from ...llm.chunks import Conversation, ModelRequest, ReasoningChunk, Restarted
from ...llm.client import LanguageModel
from ...llm.code_reply import with_code, with_tagged_calls
from ...llm.conversation import to_api_messages, to_native_messages
from ...llm.failures import ContextOverflow, ModelError, ToolsRefused
from ...llm.frames import Frame
from ...llm.history import cost_of, has_gaps, older_half, optimize_history_by_tokens
from ...llm.known_models import KnownModels
from ...llm.protocols import CODE_TEMPERATURES
from ...llm.reader import ReplyReader
from ...llm.reply import Reply
from ...llm.tokens import TokenCounter
from ...llm.vision import MAX_SENT, VisionSupport, with_pictures
from ...policy.visible import spell_hidden
from ...store import PlanRevision
from ..log import RunLog
from .accounting import Accounting
from .answer_form import AnswerForm
from .budget import Budget
from .job_code import code_run, inserted_cells
from .limits import LimitReached, RunLimits
from .past import Past
from .plan_text import standing_of, text_of
from .reply_events import ReplyEvents
from .request_form import RequestForm
from .summary import Summariser
from .writing import WritingProgress

HISTORY_TOKENS = 24_000
"""What of the conversation is sent, unless the model turns out to read less."""

_REPLY_TOKENS, _REPLY_SHARE = 4_000, 4
"""Of a window that is known, so much is left for the reply, at most one part in so many."""

_LEAST = 300
"""Tokens of a conversation that make no sense any more if they are cut further."""

_MAX_SHORTENINGS = 6
"""Times that a conversation is made shorter until it fits."""

_NOTE_SHARE = 4
"""The note about the notebook takes at most one part in this many of what is sent."""

_MENTIONS_SHARE = 3
"""The same for what a message points at."""

_TABLES = ("variable", "column", "file")
"""What can be a table."""

_LAST_WORDS = 1.0
"""Seconds in which a model that has said all may end its reply and tell what it cost."""

_CHECK_OUTPUT = (
    "If this is right, reply with the answer in plain words{form}. If not, reply with the whole "
    "block corrected."
)
_CORRECT = "Reply with the whole block corrected."
_CHANGE = "The same code fails again. Do as the hint says, or compute it in another way."


class MessageMentions(Protocol):
    """What a message points at."""

    mentions: list[Mention]
    pictures: list[ImagePart]
    guidance: str
    """How to go about it, which is no data of others."""

    @property
    def text(self) -> str:
        """For the model; it holds what others wrote."""


LookUp = Callable[[Message, int], Awaitable[MessageMentions]]


@dataclass
class ModelSession:
    """Asks the model on behalf of one run."""

    model: LanguageModel
    log: RunLog
    limits: RunLimits
    budget: Budget
    request_form: RequestForm
    frame: Frame
    """Stands around what others wrote; the prompt explains it."""
    model_name: str = ""
    reform: Callable[[ToolProtocol], RequestForm] | None = None
    """Makes the form for another protocol, should this one not work."""
    form: AnswerForm = field(default_factory=AnswerForm)
    """The form in which the user wants the answer."""
    is_about_tables: bool = False
    """Whether the request names tables that the note tells of: its answer can be computed."""
    counter: TokenCounter = field(default_factory=TokenCounter)
    known: KnownModels = field(default_factory=KnownModels)
    """Knows how much each model reads."""
    small_model: str = ""
    """Who summarises what no longer fits; empty for the model itself."""
    vision: VisionSupport = field(default_factory=VisionSupport)
    note: str = ""
    """What is told beside the user's request: where they are in their notebook."""
    look_up: LookUp | None = None
    """Finds what a message points at, in at most so many tokens."""
    history_tokens: int = HISTORY_TOKENS
    is_step: bool = False
    """Whether it works on a step of an approved plan: then its assignment says what is wanted."""

    def __post_init__(self) -> None:
        self._past = Past(self.log)
        if self._name == BUILT_IN:  # it answers as it can
            self.form = AnswerForm()
        self._aside = self._framed(self.note)
        self._mentioned: dict[str, Message] = {}
        """What messages of this run point at, by their ids."""
        self._events = ReplyEvents(self.log)
        counting = (self.limits, self.budget, self.counter, self.known)
        self._accounting = Accounting(self.log, *counting)
        self._leaves_out = False
        self._reasoning_field = ""

    def _framed(self, text: str, pictures: Sequence[ImagePart] = ()) -> Message:
        """What is told beside a message, as data that others wrote."""
        aside = self.log.message("system", self.frame.around(spell_hidden(text)))
        return aside.model_copy(update={"content": [*aside.content, *pictures]})

    @property
    def notes(self) -> str:
        """All that the model reads beside what was said, where its figures may come from."""
        return "\n\n".join([self.note, *(one.text for one in self._mentioned.values())])

    async def look_up_mentions(self, message: Message | None) -> None:
        """Tell the model what the user's words point at, and keep with them what that was."""
        if message is None or self.look_up is None or not isinstance(message.data, TextData):
            return
        room = self._room(self.known.window(self._name)) // _MENTIONS_SHARE
        found = await self.look_up(message, room)
        if found.guidance:
            self._mentioned[message.id] = self.log.message("system", spell_hidden(found.guidance))
        if not found.mentions:
            return
        aside = self._framed(found.text, found.pictures)
        if told := self._mentioned.get(message.id):
            aside = aside.model_copy(update={"content": [*told.content, *aside.content]})
        self._mentioned[message.id] = aside
        self.is_about_tables |= any(one.kind in _TABLES and one.tokens for one in found.mentions)
        data = message.data.model_copy(update={"mentions": found.mentions})
        with self.log.journal.transaction() as tx:
            tx.save_message_data(message.model_copy(update={"data": data}))

    async def ask(self) -> Reply:
        """Ask once; a conversation too long for the model is shortened until it fits."""
        failed: list[int] = []
        while True:
            history = await self._make_room(self._history())
            try:
                reply = await self._ask_seeing(history)
            except ContextOverflow as error:
                if not self._shorten(error, failed):
                    raise
            else:
                if failed:
                    self.known.learn_window(self._name, min(failed))
                return reply

    def _shorten(self, error: ContextOverflow, failed: list[int]) -> bool:
        """Send less from now on; false where no less can be sent.

        `failed` gets the window as it seems now: as the server says, else somewhat less than this.
        """
        sent = sum(cost_of(message, self.counter) for message in self._history())
        if len(failed) == _MAX_SHORTENINGS or (failed and sent <= _LEAST):
            return False
        window = error.window or (self._beside() + sent) * 3 // 4
        failed.append(window)
        room = self._room(window)
        # Where that would have fitted, by our count, our count is wrong.
        self.history_tokens = room if error.window and room < sent else sent // 2
        said = f"{error.message} Retrying with a shorter history."
        self.log.event(Notice(code="context_overflow", message=said))
        return True

    def _room(self, window: int | None) -> int:
        """What of a window is there for the conversation."""
        if window is None:
            return self.history_tokens
        reply = min(_REPLY_TOKENS, window // _REPLY_SHARE)
        return max(_LEAST, min(self.history_tokens, window - self._beside() - reply))

    def _beside(self) -> int:
        """What a request costs beside the conversation: the prompt and the tools."""
        more = json.dumps(self.request_form.arguments) if self.request_form.arguments else ""
        return self.counter(self.request_form.system) + self.counter(more)

    async def _make_room(self, history: list[Message]) -> list[Message]:
        """Have what no longer fits summarised, with room for the turns to come."""
        if self._leaves_out or self._name == BUILT_IN or not has_gaps(history):
            return history
        room = self._room(self.known.window(self._name))
        older = older_half(list(self._past.newest_first()), room, self.counter)
        if not older:
            return history
        name = self.small_model or self.model_name
        summariser = Summariser(self.model, name, self.frame, self.counter)
        try:
            summary, spent = await summariser.summarise(older, self._past.summary, room)
        except ModelError as error:
            said = f"{len(older)} earlier messages no longer fit and are left out. {error.message}"
            self.log.event(Notice(code="left_out", message=said))
            self._leaves_out = True
            return history
        self.log.event(summary)
        self._past.summary = summary
        self.limits.tokens += spent.total_tokens
        await self.budget.spend(spent, name or self._name, self.log.task_id)
        return self._history()

    async def _ask_seeing(self, history: list[Message]) -> Reply:
        """Ask; what the server turns out not to take, tools or pictures, is not sent again."""
        try:
            return await self._ask(history)
        except ContextOverflow:
            raise
        except ToolsRefused as error:
            self._fall_back("json", f"{error.message} Retrying with calls in the text.")
            return await self._ask(self._history())
        except ModelError as error:
            name = self._name
            shows_pictures = any(message.pictures for message in history)
            if not shows_pictures or not self.vision.is_lost(name, error):
                raise
            said = f"{error.message} Retrying without pictures; {name} gets none from now on."
            self.log.event(Notice(code="no_pictures", message=said))
            return await self._ask(self._history())

    @property
    def asks_for_code(self) -> bool:
        """Whether the prompt asks for blocks of Python."""
        return self.request_form.protocol == "code"

    @property
    def _name(self) -> str:
        return self.model_name or self.model.name

    async def _ask(self, history: list[Message]) -> Reply:
        request = self._request(history)
        messages = request.messages
        reader = ReplyReader(ends_with_code=self.asks_for_code)
        self.limits.turns += 1
        try:
            await self._read(request, reader)
            self._events.show(reader.finish())
        except LimitReached as limit:
            cut = reader.reply
            self.log.say("assistant", cut.raw, cut.beside_text(f"cut off at {limit}"))
            raise
        finally:
            await self.log.journal.until_free()
            await self._accounting.charge(reader, messages, self._name)
        return self._understood(reader)

    def _understood(self, reader: ReplyReader) -> Reply:
        """The reply, with calls that it holds in another form than was asked for."""
        reply = reader.reply
        if self._name == BUILT_IN:
            return reply
        if self.request_form.is_native and not reader.has_native_calls:
            reply = with_tagged_calls(reply, self.request_form.tools)
        was_called = isinstance(reply.structured, ToolCalls)
        if self.request_form.runs_code:
            reply = with_code(reply, expected=self.asks_for_code)
        if isinstance(reply.structured, ToolCalls) and not reader.has_native_calls:
            said = f"{self._name} writes its calls into the text; it is asked for that from now on."
            self._fall_back("json" if was_called else "code", said)
        return reply

    def _fall_back(self, protocol: ToolProtocol, said: str) -> None:
        """Native calls do not work here: use another protocol from now on, and remember it."""
        if not self.request_form.is_native or self.reform is None:
            return
        self.known.learn_protocol(self._name, protocol)
        self.request_form = self.reform(protocol)
        self.log.event(Notice(code="no_native_calls", message=said))

    async def _read(self, request: ModelRequest, reader: ReplyReader) -> None:
        """Read the stream to its end, or a moment beyond the end of a reply that is whole."""
        patience = asyncio.timeout(None)
        progress = WritingProgress(self.limits, self.log, self.known.window(self._name))
        try:
            async with patience, aclosing(self.model.stream(request)) as chunks:
                async for chunk in chunks:
                    progress.watch(chunk)
                    if isinstance(chunk, Restarted):
                        self._events.say_restarted(chunk)
                    if isinstance(chunk, ReasoningChunk):
                        self._reasoning_field = chunk.field
                    self._events.show(reader.feed(chunk))
                    if reader.is_whole and patience.when() is None:
                        patience.reschedule(asyncio.get_running_loop().time() + _LAST_WORDS)
        except TimeoutError:
            if not patience.expired():  # another's, which is a failure
                raise

    def _request(self, history: list[Message]) -> ModelRequest:
        form = self.request_form
        if form.is_native:
            thoughts = self._past.thoughts() if self._reasoning_field else {}
            messages = to_native_messages(
                form.system, history, self.frame, self._reasoning_field, thoughts
            )
        else:
            fenced = self.asks_for_code
            messages = to_api_messages(form.system, history, self.frame, fenced=fenced)
        return ModelRequest(
            messages, self.model_name, self._arguments(), self._conversation, self.log.job_id
        )

    def _arguments(self) -> dict[str, Any]:
        """Where code has failed, the likeliest would be the same again."""
        failures = len(self._past.failed_calls()) if self.asks_for_code else 0
        if not failures:
            return self.request_form.arguments
        temperature = CODE_TEMPERATURES[min(failures, len(CODE_TEMPERATURES) - 1)]
        return {**self.request_form.arguments, "temperature": temperature}

    def _conversation(self) -> Conversation:
        log, store = self.log, self.log.journal.store
        revision = self._plan()
        said = store.job_messages(log.job_id)
        messages = [_in_words(message) for message in said if message.task_id == log.task_id]
        plan = revision.plan if revision else None
        return Conversation(
            log.role,
            self.request_form.tools,
            log.notebook,
            plan,
            messages,
            inserted_cells(said),
            code_run(said),
            self.request_form.memory,
        )

    def _history(self) -> list[Message]:
        return self._fitting(self._room(self.known.window(self._name)))

    def _fitting(self, room: int) -> list[Message]:
        """The plan and what fits of the past; last comes what changes from turn to turn."""
        revision, goal = self._plan(), self._goal()
        progress = standing_of(revision.plan) if revision else self._what_next()
        standing = [self.log.message("system", progress)] if progress else []
        pictures = MAX_SENT if self.vision.sees(self._name) else 0
        aside = cost_of(self._aside, self.counter)
        # A model that reads little should rather read what was said.
        is_told = bool(self.note) and aside * _NOTE_SHARE <= room
        mentioned = self._mentioned_with(pictures)
        pictures -= sum(len(one.pictures) for one in mentioned.values())
        costs = (cost_of(one, self.counter) for one in [*standing, *mentioned.values()])
        beside = sum(costs) + (aside if is_told else 0)
        history = optimize_history_by_tokens(
            with_pictures(self._past.newest_first(), pictures),
            room - beside,
            self.counter,
            goal=goal,
            plan=text_of(revision.plan) if revision else None,
            summary=self._summary(),
        )
        noted = self._with_note(history, goal) if is_told else history
        for message_id, aside_of_message in mentioned.items():
            noted = _before(message_id, aside_of_message, noted)
        return [*noted, *standing]

    def _mentioned_with(self, pictures: int) -> dict[str, Message]:
        """What messages point at, with so many pictures."""
        newest_first = reversed(self._mentioned.values())
        shown = with_pictures(newest_first, pictures)
        return dict(zip(reversed(self._mentioned), shown, strict=True))

    def _summary(self) -> str | None:
        """What stands for the turns before those that are sent; it tells what others wrote."""
        known = self._past.summary
        if known is None:
            return None
        text = self.frame.around(spell_hidden(known.text))
        return f"Summary of the {known.count} messages before these:\n{text}"

    def _what_next(self) -> str:
        """Small models forget what to do once they see an output."""
        if not self.asks_for_code or not self._past.ends_with_result():
            return ""
        if failed := self._past.failed_calls():
            return _CORRECT if failed.count(failed[0]) == 1 else _CHANGE
        form = " and ".join(self.form.wanted)
        as_asked = f", ending with {form}, the dots being the computed value" if form else ""
        return _CHECK_OUTPUT.format(form=as_asked)

    def _goal(self) -> Message | None:
        """What is wanted, which is never left out."""
        store, log = self.log.journal.store, self.log
        if self.is_step and log.task_id:
            return store.assignment(log.task_id)
        return store.goal(log.context_id, log.job_id)

    def _plan(self) -> PlanRevision | None:
        """The plan the job is about. A planner with a new goal has none: it is to make one."""
        store = self.log.journal.store
        plan_id = store.plan_id_of(self.log.job_id)
        if plan_id is None and self.log.role is AgentRole.PLANNER:
            return None
        return store.plan(self.log.context_id, plan_id=plan_id)

    def _with_note(self, history: list[Message], goal: Message | None) -> list[Message]:
        """The note goes with the request that it was made for, where it stays in all turns."""
        return _before(goal.id if goal else "", self._aside, history)


def _before(message_id: str, aside: Message, history: list[Message]) -> list[Message]:
    """The history with an aside just before that message, or at its beginning."""
    ids = [message.id for message in history]
    place = ids.index(message_id) if message_id in ids else 0
    return [*history[:place], aside, *history[place:]]


def _in_words(message: Message) -> Message:
    """The message as if its mentions were plain names, for who answers by rules."""
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
