"""Jupyter's own event system hears of us, without contents."""

from __future__ import annotations

import io
import json
import logging
from typing import Any

import pytest

from cowork_jupyter.parts.metrics.metrics import SCHEMA_ID
from tests.scripted import ScriptedServer, text

from .api import Api

pytestmark = pytest.mark.usefixtures("connected")


async def test_events_reach_jupyters_event_log_without_what_was_said(
    api: Api, jp_serverapp: Any, scripted: ScriptedServer
) -> None:
    written = io.StringIO()
    jp_serverapp.event_logger.register_handler(logging.StreamHandler(written))
    scripted.add(text("a secret answer"))
    context = await api.new_context()
    question = {"content": "a secret question"}
    accepted = await api.post(f"context/{context}/messages", question, status=202)
    await api.ended(accepted["job_id"])
    entries = [json.loads(line) for line in written.getvalue().splitlines()]
    ours = [entry for entry in entries if entry["__schema__"] == SCHEMA_ID]
    types = [entry["type"] for entry in ours]
    assert types == ["job-started", "message", "usage", "message", "job-completed"]
    assert ours[-1]["status"] == "completed"
    assert "secret" not in written.getvalue()


async def test_the_servers_log_has_ids_but_neither_contents_nor_keys(
    api: Api,
    scripted: ScriptedServer,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COWORK_API_KEY", "sk-do-not-log-me")
    caplog.set_level(logging.DEBUG)
    scripted.add(text("a secret answer"))
    context = await api.new_context()
    question = {"content": "a secret question"}
    accepted = await api.post(f"context/{context}/messages", question, status=202)
    await api.ended(accepted["job_id"])
    assert accepted["job_id"] in caplog.text
    assert "sk-do-not-log-me" not in caplog.text
    assert "a secret" not in caplog.text
