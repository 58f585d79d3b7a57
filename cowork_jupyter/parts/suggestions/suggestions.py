"""Suggestions: fixes, explanations, new and changed cells, completions, streamed as they come.

Nothing is changed here and no job is started: the user decides. What was suggested, and the
decision, is stored with the conversation; completions are not.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from ...agents.agent import AgentFactory
from ...agents.log import RunLog
from ...agents.run.history import Mentioned
from ...agents.run.usage import with_cost
from ...domain.contexts import Context
from ...domain.errors import CoworkError, Forbidden, NotFound, Unavailable
from ...domain.events import SuggestionDecided, SuggestionMade
from ...domain.identity import new_id
from ...domain.messages import ErrorBody
from ...domain.suggestions import (
    Decision,
    SuggestionDone,
    SuggestionEvent,
    SuggestionFailed,
    SuggestionRequest,
    SuggestionStarted,
    SuggestionText,
)
from ...llm.chunks import Chunk, ModelRequest
from ...llm.client import ProposeFix
from ...llm.failures import ContextOverflow, Garbled, Stalled
from ...llm.model_probe import HOW_TO_CONNECT
from ...service.service import CoworkService
from .answers import CodeAnswer, TextAnswer, answer_by_rules, restore_secrets
from .cell_context import CellContext, NotebookFacts, read_notebook_facts
from .completion import (
    MAX_TOKENS,
    CompletionCache,
    complete_part,
    completion_messages,
    fit_completion,
    split_at_cursor,
)
from .prompts import Prompter

logger = logging.getLogger(__name__)

_ANSWER_SECONDS, _COMPLETION_SECONDS, _USAGE_SECONDS = 180.0, 10.0, 0.3
"""For a whole answer, for a completion, and for its usage once the answer is complete."""
_FRESH_SECONDS, _STALE_SECONDS = 2.0, 30.0
"""Seconds in which completions need not look again, and after which they wait for it."""
_MAX_KNOWN = 50
_MAX_TRIED = 3
_STORED = ("fix", "explain", "generate", "change")

_OPTIONS = {"max_tokens": MAX_TOKENS}


@dataclass
class Suggestions:
    service: CoworkService
    _completions: CompletionCache = field(default_factory=CompletionCache)
    _known: dict[tuple[str, str], tuple[float, NotebookFacts]] = field(default_factory=dict)
    _looking: set[asyncio.Task[NotebookFacts]] = field(default_factory=set)

    @property
    def factory(self) -> AgentFactory:
        return self.service.factory

    def stream(
        self, context_id: str, request: SuggestionRequest
    ) -> AsyncGenerator[SuggestionEvent, None]:
        """The lines of the answer; a failure is the last of them. No job starts."""
        context = self.service.conversations.get(context_id)
        self.service.new_jobs.check_limits(context)
        return self._stream(context, request)

    async def _stream(
        self, context: Context, request: SuggestionRequest
    ) -> AsyncGenerator[SuggestionEvent, None]:
        try:
            async with aclosing(self._lines(context, request)) as lines:
                async for line in lines:
                    yield line
        except CoworkError as error:
            yield SuggestionFailed(error=ErrorBody(**error.as_dict()))
        except Exception:
            logger.exception("A suggestion failed")
            said = "Something went wrong. See the log of the Jupyter server."
            yield SuggestionFailed(error=ErrorBody(code="internal", message=said))

    def decide(self, context_id: str, suggestion: str, decision: Decision, source: str) -> None:
        made = self.factory.journal.store.notices(context_id, "suggestion")
        if not any(_made(event.data).id == suggestion for event in made):
            raise NotFound("This conversation has no such suggestion.", details={"id": suggestion})
        said = SuggestionDecided(id=suggestion, decision=decision)
        if source:
            said.source = source
        self.factory.journal.record(context_id, said)

    async def _lines(
        self, context: Context, request: SuggestionRequest
    ) -> AsyncGenerator[SuggestionEvent, None]:
        model = self.factory.llm.model
        name, propose = model.name, model.traits.propose_fix
        if not propose:
            context = await self.service.new_jobs.with_model(context)
            name = context.model or name
        completes = request.kind == "complete"
        if completes and not propose:
            name = self.factory.llm.small_model or name
        started = SuggestionStarted(id=new_id("sug"), model=name)
        yield started
        if propose:
            lines = self._by_rules(context, request, propose)
        elif completes:
            lines = self._complete(context, request, name)
        else:
            lines = self._write(context, request, name)
        async with aclosing(lines):
            async for line in lines:
                if isinstance(line, SuggestionDone) and request.kind in _STORED:
                    self._store(context, request, started, line)
                yield line

    def _store(
        self,
        context: Context,
        request: SuggestionRequest,
        started: SuggestionStarted,
        done: SuggestionDone,
    ) -> None:
        made = SuggestionMade(
            id=started.id,
            kind=request.kind,
            notebook=context.notebook or "",
            cell_id=request.cell_id,
            instruction=request.instruction,
            before=request.source,
            source=done.source,
            explanation=done.explanation,
            model=started.model,
            usage=done.usage,
        )
        self.factory.journal.record(context.id, made)

    # By a model

    async def _write(
        self, context: Context, request: SuggestionRequest, name: str
    ) -> AsyncGenerator[SuggestionEvent, None]:
        budget = self._budget(name)
        looked, mentioned = await asyncio.gather(
            read_notebook_facts(self.factory.tools, self._log(context), context.notebook, request),
            self._look_up_mentions(context, request, budget),
        )
        around = _refuse_private(CellContext.of(request, looked))
        tried = [*self._rejected_sources(context, request), *request.tried][-_MAX_TRIED:]
        while True:
            prompter = Prompter(self._frame(context), self.factory.llm.counter, budget)
            messages = prompter.messages(request, around, tried, mentioned.text if budget else "")
            answer = self._answer_for(request)
            try:
                async with aclosing(self._ask(name, messages, answer)) as lines:
                    async for line in lines:
                        yield line
                break
            except ContextOverflow:
                if not budget:
                    raise
                budget, tried = 0, []  # the cell alone may still fit
        yield self._finish(request, answer, name)

    async def _look_up_mentions(
        self, context: Context, request: SuggestionRequest, budget: int
    ) -> Mentioned:
        factory, room = self.factory, budget // 2
        scope = factory.mention_scope(self._log(context), context.notebook)
        return await factory.look_up_mentions(scope, request.instruction, room, factory.llm.counter)

    def _answer_for(self, request: SuggestionRequest) -> CodeAnswer | TextAnswer:
        if request.kind == "explain":
            return TextAnswer()
        is_shell = request.source.lstrip().startswith(("%%bash", "%%sh", "%%script", "!"))
        return CodeAnswer(shell=is_shell)

    async def _ask(
        self, name: str, messages: list[dict[str, Any]], answer: CodeAnswer | TextAnswer
    ) -> AsyncGenerator[SuggestionEvent, None]:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _ANSWER_SECONDS
        async with aclosing(self.factory.llm.model.stream(ModelRequest(messages, name))) as chunks:
            while (chunk := await _next(chunks, deadline, lenient=answer.is_whole)) is not None:
                for line in answer.feed(chunk):
                    yield line
                if answer.is_whole:
                    deadline = min(deadline, loop.time() + _USAGE_SECONDS)
        for line in answer.finish():
            yield line

    def _finish(
        self, request: SuggestionRequest, answer: CodeAnswer | TextAnswer, name: str
    ) -> SuggestionDone:
        if answer.is_cut:
            raise Garbled("The model's answer was cut off before its end. Ask for less at once.")
        if not answer.source.strip():
            said = f" It said: {answer.explanation}" if answer.explanation else ""
            raise Garbled(f"The model gave no code.{said}", code="no_code", retryable=True)
        mask = self.factory.journal.store.mask
        return SuggestionDone(
            source=restore_secrets(answer.source, request.source, mask),
            explanation=answer.explanation,
            usage=self._usage(answer, name),
        )

    def _usage(self, answer: CodeAnswer | TextAnswer, name: str) -> Any:
        spent = answer.usage.model_copy(update={"turns": 1, "model": name})
        return with_cost(spent, name, self.factory.settings)

    def _budget(self, name: str) -> int:
        window, wanted = self.factory.llm.known.window(name), self.factory.settings.notebook_tokens
        return wanted if window is None else min(wanted, max(0, window // 4))

    def _rejected_sources(self, context: Context, request: SuggestionRequest) -> list[str]:
        store = self.factory.journal.store
        decisions = store.notices(context.id, "suggestion_decided")
        refused = {
            event.data.id: event.data.decision == "rejected"
            for event in decisions
            if isinstance(event.data, SuggestionDecided)
        }
        made = [_made(event.data) for event in store.notices(context.id, "suggestion")]
        return [
            suggestion.source
            for suggestion in made
            if suggestion.cell_id == request.cell_id
            and suggestion.kind == request.kind
            and refused.get(suggestion.id)
            and suggestion.source not in request.tried
        ]

    def _frame(self, context: Context) -> Any:
        return self.factory.prompts.frames.of(context.id)

    def _log(self, context: Context) -> RunLog:
        return RunLog(self.factory.journal, context.id, "", context.role)

    # At the cursor

    async def _complete(
        self, context: Context, request: SuggestionRequest, name: str
    ) -> AsyncGenerator[SuggestionEvent, None]:
        messages = await self.completion_request(context, request)
        key = self._completions.key(name, messages)
        text, usage = self._completions.get(key), None
        if text is None:
            answer = CodeAnswer(bare=True)
            text = await self._completion(ModelRequest(messages, name, _OPTIONS), answer)
            text = fit_completion(text, *split_at_cursor(request))
            usage = self._usage(answer, name)
            self._completions.keep(key, text)
        if text:
            yield SuggestionText(text=text)
        yield SuggestionDone(source=text, **({"usage": usage} if usage else {}))

    async def completion_request(
        self, context: Context, request: SuggestionRequest
    ) -> list[dict[str, Any]]:
        around = _refuse_private(CellContext.of(request, await self._recent(context, request)))
        return completion_messages(request, around, self._frame(context))

    async def _completion(self, asked: ModelRequest, answer: CodeAnswer) -> str:
        deadline = asyncio.get_running_loop().time() + _COMPLETION_SECONDS
        async with aclosing(self.factory.llm.model.stream(asked)) as chunks:
            while (chunk := await _next(chunks, deadline, lenient=False)) is not None:
                answer.feed(chunk)
                if answer.is_whole or complete_part(answer.source) is not None:
                    break
        answer.finish()
        return answer.source

    async def _recent(self, context: Context, request: SuggestionRequest) -> NotebookFacts:
        """A recent lookup, refreshed in the background, or a new one."""
        key = (context.notebook or "", context.role.value)
        at, looked = self._known.get(key, (0.0, None))
        age = time.monotonic() - at
        if looked is not None and age < _FRESH_SECONDS:
            return looked
        task = asyncio.ensure_future(
            read_notebook_facts(self.factory.tools, self._log(context), context.notebook, request)
        )
        self._looking.add(task)
        task.add_done_callback(lambda done: self._remember(key, done))
        return looked if looked is not None and age < _STALE_SECONDS else await asyncio.shield(task)

    def _remember(self, key: tuple[str, str], task: asyncio.Task[NotebookFacts]) -> None:
        self._looking.discard(task)
        if task.cancelled() or task.exception():
            return
        self._known.pop(key, None)
        self._known[key] = (time.monotonic(), task.result())
        while len(self._known) > _MAX_KNOWN:
            del self._known[next(iter(self._known))]

    # By rules

    async def _by_rules(
        self, context: Context, request: SuggestionRequest, propose: ProposeFix
    ) -> AsyncGenerator[SuggestionEvent, None]:
        if request.error is None or request.kind not in ("fix", "explain"):
            raise Unavailable(HOW_TO_CONNECT, code="no_model", retryable=False)
        done = await answer_by_rules(
            self.factory.tools, self._log(context), context.notebook, request, propose
        )
        if request.kind == "explain" or done.source != request.source:
            yield SuggestionText(text=done.source)
        yield done


async def _next(
    chunks: AsyncGenerator[Chunk, None], deadline: float, *, lenient: bool
) -> Chunk | None:
    """The next chunk; None at the end. `lenient`: also if none comes in time."""
    try:
        async with asyncio.timeout_at(deadline):
            return await anext(chunks)
    except StopAsyncIteration:
        return None
    except TimeoutError:
        if lenient:
            return None
        raise Stalled("The model took too long. Try again.") from None


def _refuse_private(around: CellContext) -> CellContext:
    if around.is_private:
        raise Forbidden(
            "This cell is tagged private, so it is not sent to a model. Remove the tag to get "
            "suggestions for it.",
            code="private_cell",
        )
    return around


def _made(data: object) -> SuggestionMade:
    assert isinstance(data, SuggestionMade)
    return data
