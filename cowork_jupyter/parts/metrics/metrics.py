"""Prometheus metrics beside Jupyter's own at `/metrics`, and events for Jupyter's event system.

Metrics count for the whole process, as Jupyter's do. Neither tells ids or names that somebody else
chose, nor what was said.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from datetime import datetime
from functools import cache, partial
from typing import Any

from prometheus_client import Counter, Gauge, Histogram, Summary

from ...domain import events
from ...domain.events import Event, EventType
from ...domain.operations import (
    OK,
    UNKNOWN_TOOL,
    CheckpointTaken,
    Decided,
    JobBegun,
    JobEnded,
    McpSampled,
    McpServerChanged,
    ModelCalled,
    Operation,
    RolledBack,
    ToolCalled,
)
from ...service.parts import rule_names

_LONG = (1, 3, 10, 30, 60, 180, 600, 1800, 3600, 14400)
_SHORT = (0.005, 0.01, 0.02, 0.05, 0.08, 0.1, 0.2, 0.5, 1, 5)
_CALL = (0.1, 0.3, 1, 3, 10, 30, 60, 120, 300)
_DENIED = {"denied", "denied_by_user", "denied_headless", "not_permitted"}

JOBS = Counter("cowork_jobs", "Jobs that have ended", ["kind", "status"])
JOB_SECONDS = Histogram("cowork_job_seconds", "Duration of jobs", buckets=_LONG)
JOBS_RUNNING = Gauge("cowork_jobs_running", "Jobs running now, including those that wait")
WAITING = Gauge(
    "cowork_waiting", "Questions and approval requests that wait for the user", ["kind"]
)
MODEL_CALLS = Counter("cowork_model_calls", "Calls to the language model", ["outcome"])
MODEL_SECONDS = Histogram("cowork_model_call_seconds", "Duration of model calls", buckets=_CALL)
MODEL_RETRIES = Counter("cowork_model_retries", "Attempts to call the model beyond the first")
MODEL_TOKENS = Counter("cowork_model_tokens", "Tokens, as model servers report", ["direction"])
TOOL_CALLS = Counter("cowork_tool_calls", "Tool calls", ["tool", "outcome"])
TOOL_SECONDS = Summary("cowork_tool_call_seconds", "Duration of tool calls that ran", ["tool"])
DECISIONS = Counter("cowork_decisions", "Decisions about tool calls", ["verdict", "reason"])
CHECKPOINTS = Counter("cowork_checkpoints", "Checkpoints taken")
CHECKPOINT_BYTES = Counter(
    "cowork_checkpoint_bytes", "Bytes of file contents that checkpoints keep"
)
CHECKPOINT_SECONDS = Histogram(
    "cowork_checkpoint_seconds", "Time spent on checkpoints", buckets=_CALL
)
ROLLBACKS = Counter("cowork_rollbacks", "Rollbacks")
MCP_SERVERS = Counter("cowork_mcp_servers", "Starts and ends of MCP servers", ["state"])
MCP_SAMPLINGS = Counter("cowork_mcp_samplings", "Sampling requests from MCP servers")
EVENTS = Counter("cowork_events", "Events stored and shown", ["type"])
DELIVERY_SECONDS = Histogram(
    "cowork_event_delivery_seconds",
    "Delay between an event and the page that shows it",
    buckets=_SHORT,
)


class Metrics:
    def __init__(self, event_logger: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._telemetry = Telemetry(event_logger, loop)
        self._running: set[str] = set()
        self._waiting: dict[str, set[str]] = {"permission": set(), "question": set()}

    def on_operation(self, operation: Operation) -> None:
        match operation:
            case JobBegun(id=job_id):
                self._running.add(job_id)
                JOBS_RUNNING.set(len(self._running))
            case JobEnded() as job:
                self._count_end(job)
            case ModelCalled() as call:
                _count_model(call)
            case ToolCalled() as call:
                tool = label_of(call.tool)
                TOOL_CALLS.labels(tool, _outcome(call.status)).inc()
                if call.seconds:
                    TOOL_SECONDS.labels(tool).observe(call.seconds)
            case Decided(verdict=verdict, reason=reason):
                DECISIONS.labels(verdict, reason).inc()
            case CheckpointTaken() as checkpoint:
                CHECKPOINTS.inc()
                CHECKPOINT_BYTES.inc(checkpoint.bytes)
                CHECKPOINT_SECONDS.observe(checkpoint.seconds)
            case RolledBack():
                ROLLBACKS.inc()
            case McpServerChanged(state=state):
                MCP_SERVERS.labels(state).inc()
            case McpSampled():
                MCP_SAMPLINGS.inc()

    def on_event(self, event: Event) -> None:
        self._telemetry(event)
        EVENTS.labels(str(event.type)).inc()
        match event.data:
            case events.PermissionRequested(id=request_id):
                self._track_waiting("permission", request_id, True)
            case events.PermissionResolved(id=request_id):
                self._track_waiting("permission", request_id, False)
            case events.QuestionAsked(id=request_id):
                self._track_waiting("question", request_id, True)
            case events.QuestionAnswered(id=request_id):
                self._track_waiting("question", request_id, False)

    def on_delivery(self, event: Event) -> None:
        created = datetime.fromisoformat(event.created_at).timestamp()
        DELIVERY_SECONDS.observe(max(0.0, time.time() - created))

    def _track_waiting(self, kind: str, request_id: str, is_open: bool) -> None:
        waiting = self._waiting[kind]
        waiting.add(request_id) if is_open else waiting.discard(request_id)
        WAITING.labels(kind).set(len(waiting))

    def _count_end(self, job: JobEnded) -> None:
        self._running.discard(job.id)
        JOBS_RUNNING.set(len(self._running))
        JOBS.labels(str(job.kind or "unknown"), str(job.status)).inc()
        if job.seconds is not None:
            JOB_SECONDS.observe(job.seconds)


def _count_model(call: ModelCalled) -> None:
    MODEL_CALLS.labels(call.status).inc()
    MODEL_SECONDS.observe(call.seconds)
    MODEL_RETRIES.inc(call.attempts - 1)
    MODEL_TOKENS.labels("prompt").inc(call.prompt_tokens or 0)
    MODEL_TOKENS.labels("completion").inc(call.completion_tokens or 0)


def _outcome(status: str) -> str:
    if status in (OK, "cancelled"):
        return status
    return "denied" if status in _DENIED else "error"


SCHEMA_ID = "https://events.jupyter.org/cowork_jupyter/activity/v1"

SCHEMA: dict[str, Any] = {
    "$id": SCHEMA_ID,
    "version": "1",
    "title": "Cowork activity",
    "description": "Something happened in a conversation with the Cowork agent.",
    "personal-data": False,
    "type": "object",
    "properties": {
        "type": {"type": "string", "enum": [str(kind) for kind in EventType]},
        "seq": {"type": "integer"},
        "context_id": {"type": "string"},
        "job_id": {"type": ["string", "null"]},
        "task_id": {"type": ["string", "null"]},
        "status": {"type": ["string", "null"]},
    },
    "required": ["type", "seq", "context_id"],
}

_TOO_MANY = {EventType.TEXT_DELTA, EventType.REASONING_DELTA}
"""Text deltas are frequent and tell nothing without their text."""


@cache
def label_of(tool: str) -> str:
    """Names that others chose are counted as one."""
    return tool if tool in rule_names() or tool == UNKNOWN_TOOL else "mcp"


class Telemetry:
    """Passes events, without their contents, to Jupyter's event logger in its loop."""

    def __init__(self, event_logger: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._event_logger = event_logger
        self._loop = loop
        if SCHEMA_ID not in event_logger.schemas:
            event_logger.register_event_schema(SCHEMA)

    def __call__(self, event: Event) -> None:
        if event.type in _TOO_MANY:
            return
        facts = event.model_dump(include={"seq", "context_id", "job_id", "task_id"})
        status = getattr(event.data, "status", None)
        known = {**facts, "type": str(event.type), "status": str(status) if status else None}
        emit = partial(self._event_logger.emit, schema_id=SCHEMA_ID, data=known)
        with suppress(RuntimeError):  # Jupyter's loop is closed
            self._loop.call_soon_threadsafe(emit)
