"""The budget of one job: one account, shared by all of its tasks, wherever they run."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from ...domain.contexts import Job, Usage
from ...domain.events import Notice, UsageCharged
from ...domain.settings import JOB_LIMITS, RUN_LIMITS, Settings
from ...llm.known_models import KnownModels
from ...llm.reader import ReplyReader
from ...llm.tokens import TokenCounter
from ..ask.user import User
from ..log import RunLog
from .limits import GO_ON, RunLimits, go_on_question, reset_question
from .outcome import Outcome
from .usage import (
    DayAccount,
    DayLimitReached,
    count_pictures,
    estimate_usage,
    message_text,
    with_cost,
)

_UNITS = dict(zip(JOB_LIMITS, ("model turns", "seconds", "tokens", ""), strict=True))

_CALIBRATION_TURNS = (1, 2, 4, 8, 16, 32)
"""Turns after which the token counter is calibrated; later ones would teach it nothing new."""
_TRUNCATED_SHARE, _MIN_CHECKED_TOKENS = 0.5, 2_000
"""A server that reports less than this share of so many tokens has truncated the prompt."""
_MIN_WINDOW = 1_000
"""No context window is this small: such a server leaves cached tokens out of its count."""


@dataclass(frozen=True)
class _JobLimit:
    name: str
    size: float
    unit: str

    def __str__(self) -> str:
        return f"The job's limit of {self.size:,.10g} {self.unit} ({self.name}) was reached."


class JobBudget:
    """The account of one job, held by whoever runs it.

    Stored with the job, so a resumed job goes on counting. Limits are checked between turns: a turn
    under way is not cut off.
    """

    def __init__(
        self, job: Job, settings: Settings, log: RunLog, user: User, day: DayAccount | None = None
    ) -> None:
        self._spent = job.usage
        self._configured = settings
        self._log = log
        self._user = user
        self._day = day
        self._asking = asyncio.Lock()
        self._unpriced: set[str] = set()
        self.refusal = ""
        """Set once the job was ended at a limit, by the user or for want of one."""
        self._is_stopped = False

    @property
    def settings(self) -> Settings:
        limit_names = (*RUN_LIMITS, *JOB_LIMITS)
        own = {name: size for name, size in self._spent.limits.items() if name in limit_names}
        return replace(self._configured, **own)  # type: ignore[arg-type]

    @property
    def ended(self) -> Outcome:
        """How a run ends that may not ask the model again."""
        return Outcome.at_limit(self.refusal, stopped=self._is_stopped)

    async def admit(self, worked: float = 0.0) -> str:
        """Wait for leave to ask the model once more. Returns why not, or "".

        Of all tasks that reach a limit, one asks; the others wait for the answer. `worked` is the
        time since the run last reported any.
        """
        self._spent += Usage(seconds=worked)
        if self.refusal or self._reached_limit() or await self._day_reached():
            async with self._asking:
                while not self.refusal:
                    if limit := self._reached_limit():
                        await self._ask(limit)
                    elif day := await self._day_reached():
                        await self._ask_until_reset(*day)
                    else:
                        break
        return self.refusal

    async def spend(self, spent: Usage, model: str = "", task_id: str | None = None) -> None:
        charged = self._with_cost(spent, model).model_copy(update={"model": model})
        self._spent += charged
        log = replace(self._log, task_id=task_id)
        with log.journal.transaction() as tx:
            tx.save_usage(log.job_id, self._spent)
            if charged.total_tokens:
                log.append(tx, UsageCharged(**charged.model_dump(exclude={"limits"})))

    def _with_cost(self, spent: Usage, model: str) -> Usage:
        if model not in self._configured.prices and spent.total_tokens and self.settings.max_cost:
            self._say_unpriced(model)
        return with_cost(spent, model, self._configured)

    def _say_unpriced(self, model: str) -> None:
        """A limit that cannot be enforced is worse than none if nobody knows."""
        if model not in self._unpriced:
            self._unpriced.add(model)
            message = f"There is no price for '{model}' (prices), so max_cost does not limit it."
            self._log.event(Notice(code="no_price", message=message))

    def _reached_limit(self) -> _JobLimit | None:
        settings = self.settings
        for name, unit in _UNITS.items():
            size = getattr(settings, name)
            if 0 < size <= self._used(name):
                return _JobLimit(name, size, unit or settings.currency)
        return None

    def _used(self, name: str) -> float:
        spent = self._spent
        amounts: dict[str, float] = {
            "max_job_iterations": spent.turns,
            "max_job_seconds": spent.seconds,
            "max_job_tokens": spent.total_tokens,
            "max_cost": spent.cost or 0.0,
        }
        return amounts[name]

    async def _ask(self, limit: _JobLimit) -> None:
        answer = await self._user.ask(go_on_question(str(limit)), self._log)
        if answer == GO_ON:
            self._extend(limit)
        else:
            self._refuse(str(limit), answer)

    def _refuse(self, limit: str, answer: str | None) -> None:
        self.refusal, self._is_stopped = limit, answer is not None

    async def _day_reached(self) -> tuple[DayLimitReached, float] | None:
        if self._day is None or not self._day.is_limited:
            return None
        limit = await asyncio.to_thread(self._day.reached)
        return (limit, self._day.seconds_until(limit.resets_at)) if limit else None

    async def _ask_until_reset(self, limit: DayLimitReached, seconds: float) -> None:
        """Nobody here can extend this limit: the user retries, stops, or waits for the reset."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                answer = await self._user.ask(reset_question(str(limit)), self._log)
                if answer != GO_ON:
                    self._refuse(str(limit), answer)

    def _extend(self, limit: _JobLimit) -> None:
        amount = getattr(self._configured, limit.name) or limit.size
        limits = {**self._spent.limits, limit.name: round(self._used(limit.name) + amount, 6)}
        self._spent = self._spent.model_copy(update={"limits": limits})
        with self._log.journal.transaction() as tx:
            tx.save_usage(self._log.job_id, self._spent)


@dataclass
class Accounting:
    log: RunLog
    limits: RunLimits
    budget: JobBudget
    counter: TokenCounter
    known: KnownModels
    _truncates: bool = False

    async def charge(
        self, reader: ReplyReader, messages: list[dict[str, Any]], name: str, *, is_free: bool
    ) -> None:
        spent = reader.usage
        if spent.total_tokens:
            # What a picture costs is not to be learnt for words.
            is_lesson = self.limits.turns in _CALIBRATION_TURNS and not sum(
                map(count_pictures, messages)
            )
            if not self._was_truncated(spent, messages, name) and is_lesson:
                self.counter.learn(map(message_text, messages), spent.prompt_tokens)
        elif not is_free and (reader.reply.raw or reader.reply.reasoning):
            reply = reader.reply
            written = self.counter(reply.raw) + self.counter(reply.reasoning)
            spent = estimate_usage(messages, written, self.counter)
        self.limits.tokens += spent.total_tokens
        turn = spent.model_copy(update={"turns": 1, "seconds": self.limits.lap()})
        await self.budget.spend(turn, name, self.log.task_id)

    def _was_truncated(self, spent: Usage, messages: list[dict[str, Any]], name: str) -> bool:
        """Some servers silently truncate long prompts; only their token count gives that away."""
        sent, read = (
            sum(self.counter(message_text(message)) for message in messages),
            spent.prompt_tokens,
        )
        if sent < _MIN_CHECKED_TOKENS or not _MIN_WINDOW <= read < sent * _TRUNCATED_SHARE:
            return False
        self.known.learn_window(name, read)
        warning = (
            f"{name} read only {read:,} of about {sent:,} tokens: its server cuts off longer "
            "requests. From now on, less is sent. Give the server a larger context if you can."
        )
        if not self._truncates:
            self.log.event(Notice(code="truncated", message=warning))
        self._truncates = True
        return True
