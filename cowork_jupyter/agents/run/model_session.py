"""Asks the model: with the history that fits, streaming the answer."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ...domain.events import Notice, ReasoningStreamed, ReplyProgress, Restart, TextStreamed
from ...domain.messages import Message, TextData
from ...domain.replies import ToolCalls
from ...domain.settings import ToolProtocol
from ...llm.chunks import Chunk, ModelRequest, ReasoningChunk, Restarted, TextChunk, ToolCallChunk
from ...llm.client import LanguageModel
from ...llm.code_reply import with_code, with_tagged_calls
from ...llm.conversation import MAX_SENT, VisionSupport, to_api_messages, to_native_messages
from ...llm.failures import ContextOverflow, ModelError, ToolsRefused
from ...llm.frames import Frame
from ...llm.history import cost_of, has_gaps, older_half
from ...llm.known_models import KnownModels
from ...llm.protocols import CODE_TEMPERATURES
from ...llm.reader import MAX_TEXT, ReplyReader
from ...llm.reply import Delta, Reply, TextDelta
from ...llm.tokens import TokenCounter
from ...store.journal import Streamed
from ..log import RunLog
from .answer_form import AnswerForm
from .budget import Accounting, JobBudget
from .history import AttachedContext, LookUp, PastMessages, SentHistory, earlier_jobs
from .limits import LimitReached, RunLimits
from .model_request import RequestForm, conversation_of
from .summariser import Summariser

_PROGRESS_SECONDS = 2.0
"""Seconds between two reports; a reply that is there sooner needs none."""

_CHARACTERS_PER_TOKEN = 4
"""Per token, about, for servers that send many tokens in one piece."""

HISTORY_TOKENS = 24_000
"""Sent of the conversation, unless the model turns out to take less."""
_REPLY_TOKENS, _REPLY_SHARE = 4_000, 4
"""Of a known window, so much is reserved for the reply, at most one part in so many."""
_MIN_HISTORY_TOKENS = 300
"""Tokens below which cutting a conversation further makes no sense."""
_MAX_SHORTENINGS = 6
_MENTIONS_SHARE = 3
_GO_ON = "[Note from Cowork, not from the user] Go on."
_USAGE_SECONDS = 1.0
"""Seconds a model with a complete reply gets to end it and report its usage."""


class ReplyEvents:
    def __init__(self, log: RunLog) -> None:
        self.log = log
        self._has_begun = False
        self.begin()

    def begin(self) -> None:
        self._thinks_since = self._spoke_at = 0.0

    @property
    def thought_seconds(self) -> float:
        """From the first thought to the first word, or until now."""
        if not self._thinks_since:
            return 0.0
        return round((self._spoke_at or time.monotonic()) - self._thinks_since, 1)

    def show(self, deltas: list[Delta]) -> None:
        """Show the first words at once, later ones in batches."""
        for delta in deltas:
            if isinstance(delta, TextDelta):
                kind: Streamed = TextStreamed
                self._spoke_at = self._spoke_at or time.monotonic()
            else:
                kind = ReasoningStreamed
                self._thinks_since = self._thinks_since or time.monotonic()
            self.log.stream(kind, delta.text, at_once=not self._has_begun)
            self._has_begun = True

    def say_restarted(self, chunk: Restarted) -> None:
        """What was shown of this reply is void; the card takes it back."""
        self.begin()
        message = f"{chunk.reason} Retrying in {chunk.delay:.2g} s (attempt {chunk.attempt})."
        self.log.event(Restart(message=message, attempt=chunk.attempt, delay=chunk.delay))


@dataclass
class WritingProgress:
    limits: RunLimits
    log: RunLog
    window: int | None = None

    def __post_init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self.limits.begin_reply()
        self._pieces = self._characters = 0
        self._since = self._reported = 0.0

    def watch(self, chunk: Chunk) -> None:
        """Account for a chunk. Raises LimitReached if the reply is too long."""
        match chunk:
            case TextChunk(text) | ReasoningChunk(text) | ToolCallChunk(arguments=text):
                self._add(text)
            case Restarted():
                self._begin()

    def _add(self, text: str) -> None:
        self._pieces += 1
        self._characters += len(text)
        written = max(self._pieces, self._characters // _CHARACTERS_PER_TOKEN)
        # Tokens are guessed here, so nobody is cut off who keeps to the window.
        now = self.limits.add_progress(written, 2 * self.window if self.window else None)
        if self._pieces == 1:
            self._since = self._reported = now
        elif now - self._reported >= _PROGRESS_SECONDS:
            self._reported = now
            self.log.event(
                ReplyProgress(
                    tokens=written,
                    rate=round(written / (now - self._since), 1),
                    turns_left=self.limits.turns_left,
                    seconds_left=round(self.limits.seconds_left, 1),
                )
            )


@dataclass
class ModelSession:
    model: LanguageModel
    log: RunLog
    limits: RunLimits
    budget: JobBudget
    request_form: RequestForm
    frame: Frame
    """Marks untrusted text; the prompt explains it."""
    model_name: str = ""
    reform: Callable[[ToolProtocol], RequestForm] | None = None
    """Makes the request form for another protocol, should this one not work."""
    form: AnswerForm = field(default_factory=AnswerForm)
    """The form in which the user wants the answer."""
    is_about_tables: bool = False
    """Whether the request names tables described in the note: its answer can be computed."""
    counter: TokenCounter = field(default_factory=TokenCounter)
    known: KnownModels = field(default_factory=KnownModels)
    small_model: str = ""
    """Summarises what no longer fits; empty for the model itself."""
    vision: VisionSupport = field(default_factory=VisionSupport)
    note: str = ""
    """Told beside the user's request: where they are in their notebook."""
    look_up: LookUp | None = None
    """Resolves the mentions of a message, in at most so many tokens."""
    history_tokens: int = HISTORY_TOKENS
    is_step: bool = False
    """Whether it works on a step of an approved plan: then its assignment is the goal."""

    def __post_init__(self) -> None:
        if not self.model.traits.reads_prompt:
            self.form = AnswerForm()
        is_small = self.request_form.profile == "thin" and self.model.traits.reads_prompt
        self._past = PastMessages(self.log, only_this_job=is_small)
        earlier = earlier_jobs(self.log) if is_small and not self.log.task_id else ""
        note = "\n\n".join(filter(None, [earlier, self.note]))
        self._asides = AttachedContext(self.log, self.frame, note)
        sources = (self._past, self._asides, self.frame, self.counter)
        self._sent = SentHistory(self.log, *sources, is_step=self.is_step)
        self._events = ReplyEvents(self.log)
        counting = (self.limits, self.budget, self.counter, self.known)
        self._accounting = Accounting(self.log, *counting)
        self._leaves_out = False
        self._reasoning_field = ""

    @property
    def notes(self) -> str:
        """All that the model reads beside the conversation, as a source for figures."""
        return self._asides.text

    async def look_up_mentions(self, message: Message | None) -> None:
        if message is None or self.look_up is None or not isinstance(message.data, TextData):
            return
        room = self._history_room(self.known.window(self._name)) // _MENTIONS_SHARE
        self.is_about_tables |= await self._asides.look_up(message, self.look_up, room)

    async def ask(self) -> Reply:
        """Ask once; a conversation too long for the model is shortened until it fits."""
        failed: list[int] = []
        while True:
            history = await self._make_room(self._history())
            try:
                reply = await self._ask_with_fallback(history)
            except ContextOverflow as error:
                if not self._shorten(error, failed):
                    raise
            else:
                if failed:
                    self.known.learn_window(self._name, min(failed))
                return reply

    def _shorten(self, error: ContextOverflow, failed: list[int]) -> bool:
        """Send less from now on; False if no less can be sent.

        Appends the assumed window to `failed`: as the server says, else somewhat less than was
        sent.
        """
        sent = sum(cost_of(message, self.counter) for message in self._history())
        if len(failed) == _MAX_SHORTENINGS or (failed and sent <= _MIN_HISTORY_TOKENS):
            return False
        window = error.window or (self._overhead_tokens() + sent) * 3 // 4
        failed.append(window)
        room = self._history_room(window)
        # Where that would have fitted, by our count, our count is wrong.
        self.history_tokens = room if error.window and room < sent else sent // 2
        warning = f"{error.message} Retrying with a shorter history."
        self.log.event(Notice(code="context_overflow", message=warning))
        return True

    def _history_room(self, window: int | None) -> int:
        if window is None:
            return self.history_tokens
        reply = min(_REPLY_TOKENS, window // _REPLY_SHARE)
        return max(
            _MIN_HISTORY_TOKENS, min(self.history_tokens, window - self._overhead_tokens() - reply)
        )

    def _overhead_tokens(self) -> int:
        more = json.dumps(self.request_form.arguments) if self.request_form.arguments else ""
        return self.counter(self.request_form.system) + self.counter(more)

    async def _make_room(self, history: list[Message]) -> list[Message]:
        """Have what no longer fits summarised, leaving room for the turns to come."""
        if self._leaves_out or not (self.model.traits.reads_prompt and has_gaps(history)):
            return history
        room = self._history_room(self.known.window(self._name))
        older = older_half(list(self._past.newest_first()), room, self.counter)
        if not older:
            return history
        name = self.small_model or self.model_name
        summariser = Summariser(self.model, name, self.frame, self.counter)
        try:
            summary, spent = await summariser.summarise(older, self._past.summary, room)
        except ModelError as error:
            text = f"{len(older)} earlier messages no longer fit and are left out. {error.message}"
            self.log.event(Notice(code="left_out", message=text))
            self._leaves_out = True
            return history
        self.log.event(summary)
        self._past.summary = summary
        self.limits.tokens += spent.total_tokens
        await self.budget.spend(spent, name or self._name, self.log.task_id)
        return self._history()

    async def _ask_with_fallback(self, history: list[Message]) -> Reply:
        """Ask; tools or pictures that the server refuses are not sent again."""
        try:
            return await self._ask(history)
        except ContextOverflow:
            raise
        except ToolsRefused as error:
            self._fall_back("json", f"{error.message} Retrying with tool calls as text.")
            return await self._ask(self._history())
        except ModelError as error:
            name = self._name
            shows_pictures = any(message.pictures for message in history)
            if not shows_pictures or not self.vision.record_refusal(name, error):
                raise
            warning = f"{error.message} Retrying without pictures. From now on, {name} gets none."
            self.log.event(Notice(code="no_pictures", message=warning))
            return await self._ask(self._history())

    @property
    def asks_for_code(self) -> bool:
        return self.request_form.protocol == "code"

    @property
    def _name(self) -> str:
        return self.model_name or self.model.name

    async def _ask(self, history: list[Message]) -> Reply:
        request = self._request(history)
        reader = ReplyReader(ends_with_code=self.asks_for_code)
        self.limits.turns += 1
        self._events.begin()
        try:
            await self._read(request, reader)
            self._events.show(reader.finish())
        except LimitReached as limit:
            cut = replace(reader.reply, cut="length")
            self.log.say("assistant", cut.raw, cut.beside_text(f"cut off at {limit}"))
            raise
        except ModelError:
            cut = replace(reader.reply, cut="killed")
            if cut.text or cut.reasoning:
                self.log.say("assistant", cut.text, cut.beside_text())
            raise
        finally:
            await self.log.journal.wait_for_write_lock()
            is_free = not self.model.traits.spends_tokens
            await self._accounting.charge(reader, request.messages, self._name, is_free=is_free)
        return self._interpret(reader)

    def _interpret(self, reader: ReplyReader) -> Reply:
        """The reply, including calls in another form than was asked for."""
        reply = replace(reader.reply, thought_seconds=self._events.thought_seconds)
        if not self.model.traits.reads_prompt:
            return reply
        if self.request_form.is_native and not reader.has_native_calls:
            reply = with_tagged_calls(reply, self.request_form.tools)
        was_called = isinstance(reply.structured, ToolCalls)
        if self.request_form.runs_code:
            reply = with_code(reply, expected=self.asks_for_code)
        if isinstance(reply.structured, ToolCalls) and not reader.has_native_calls:
            warning = f"{self._name} writes its tool calls as text. From now on, it is asked to."
            self._fall_back("json" if was_called else "code", warning)
        return reply

    def _fall_back(self, protocol: ToolProtocol, warning: str) -> None:
        """Native calls do not work here: switch to another protocol, and remember it."""
        if not self.request_form.is_native or self.reform is None:
            return
        self.known.learn_protocol(self._name, protocol)
        self.request_form = self.reform(protocol)
        self.log.event(Notice(code="no_native_calls", message=warning))

    async def _read(self, request: ModelRequest, reader: ReplyReader) -> None:
        """Read the stream to its end, or a moment beyond the end of a complete reply."""
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
                    if reader.is_too_long:
                        raise LimitReached(f"{MAX_TEXT:,} characters of text in one reply")
                    if reader.is_whole and patience.when() is None:
                        patience.reschedule(asyncio.get_running_loop().time() + _USAGE_SECONDS)
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
        if messages[-1]["role"] == "assistant":  # resumed after a reply that ended early
            messages.append({"role": "user", "content": _GO_ON})
        conversation = partial(conversation_of, self.log, form)
        return ModelRequest(
            messages, self.model_name, self._arguments(), conversation, self.log.job_id
        )

    def _arguments(self) -> dict[str, Any]:
        """Raise the temperature after failures, or the model would repeat the same code."""
        failures = len(self._past.failed_calls()) if self.asks_for_code else 0
        if not failures:
            return self.request_form.arguments
        temperature = CODE_TEMPERATURES[min(failures, len(CODE_TEMPERATURES) - 1)]
        return {**self.request_form.arguments, "temperature": temperature}

    def _history(self) -> list[Message]:
        room = self._history_room(self.known.window(self._name))
        pictures = MAX_SENT if self.vision.sees(self._name) else 0
        return self._sent.select(room, pictures, self.form if self.asks_for_code else None)
