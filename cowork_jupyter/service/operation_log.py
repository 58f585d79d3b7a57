"""The operator's log: one line for each operation, and the operations derived from events."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

from ..domain import events
from ..domain.contexts import JobStatus
from ..domain.operations import JobBegun, JobEnded, Observe, Operation

logger = logging.getLogger(__name__)


def log_operation(operation: Operation) -> None:
    logger.info("%s", operation.line())


@dataclass
class _Running:
    started: events.JobStarted
    began: float
    tokens: int = 0


class JobWatch:
    def __init__(self, observe: Observe) -> None:
        self._observe = observe
        self._running: dict[str, _Running] = {}

    def __call__(self, event: events.Event) -> None:
        match event.data:
            case events.JobStarted() as started:
                self._running[started.job_id] = _Running(started, time.monotonic())
                self._observe(
                    JobBegun(started.job_id, started.kind, started.role, event.context_id)
                )
            case events.UsageCharged(total_tokens=tokens):
                if running := self._running.get(event.job_id or ""):
                    running.tokens += tokens
            case events.JobCompleted(job_id=job_id, status=status):
                self._end(job_id, status, event.context_id)

    def _end(self, job_id: str, status: JobStatus, context_id: str) -> None:
        running = self._running.pop(job_id, None)
        if running is None:
            self._observe(JobEnded(job_id, status, None, None, context_id, None, None))
            return
        started, seconds = running.started, time.monotonic() - running.began
        place = (started.kind, started.role, context_id)
        self._observe(JobEnded(job_id, status, *place, seconds, running.tokens))
