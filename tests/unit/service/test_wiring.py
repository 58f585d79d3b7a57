"""A service is built from its parts without touching anything, and ends all of them."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.agents.jobs import Jobs
from cowork_jupyter.domain.contexts import Usage
from cowork_jupyter.domain.errors import Forbidden, Unavailable
from cowork_jupyter.domain.settings import Price, Settings
from cowork_jupyter.llm.chunks import ModelRequest
from cowork_jupyter.llm.model_probe import HOW_TO_CONNECT
from cowork_jupyter.policy import settings_file
from cowork_jupyter.service import parts
from cowork_jupyter.service.wiring import build_service


@pytest.mark.asyncio
async def test_health_and_roles_open_and_write_nothing(tmp_path: Path) -> None:
    service = build_service(Settings(workspace=tmp_path, data_dir=tmp_path / "data"))
    assert (await service.health()).sandbox
    assert service.roles()
    await service.close()
    assert not (tmp_path / "data").exists()


@pytest.mark.asyncio
async def test_a_part_that_fails_to_end_leaves_no_other_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_jobs: Jobs) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr(Jobs, "close", fail)
    service = build_service(Settings(workspace=tmp_path, data_dir=tmp_path / "data"))
    context = service.conversations.create()
    with pytest.raises(OSError, match="the disk is gone"):
        await service.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        service.conversations.get(context.id)


@pytest.mark.process
def test_building_imports_no_client_and_no_protocol() -> None:
    code = (
        "import sys; from pathlib import Path;"
        "from cowork_jupyter.domain.settings import Settings;"
        "from cowork_jupyter.service.wiring import build_service;"
        "build_service(Settings(Path(), Path()));"
        "assert not {'openai', 'mcp', 'acp', 'httpx', 'distributed'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


@pytest.mark.asyncio
async def test_without_the_guide_a_model_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "listed_parts", dict)
    service = build_service(Settings(tmp_path, tmp_path))
    with pytest.raises(Unavailable, match=re.escape(HOW_TO_CONNECT)) as refused:
        service.send_message(service.conversations.create().id, "Hello")
    assert refused.value.code == "no_model"
    model = (await service.health()).model
    assert (model.ready, model.name, model.why_not) == (False, None, HOW_TO_CONNECT)
    await service.close()


@pytest.mark.asyncio
async def test_what_an_administrator_settles_reaches_every_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings_file, "is_beyond_user", lambda path: True)
    above = tmp_path / "administrator.json"
    said = {
        "permissions": {"deny": ["network(example.org)"]},
        "prices": {"m": {"input": 3, "output": 4}},
        "models": ["m"],
        "limits": {"tokens_per_day": 1},
    }
    above.write_text(json.dumps(said))
    service = build_service(
        Settings(
            workspace=tmp_path,
            data_dir=tmp_path / "data",
            base_url="http://127.0.0.1:9/v1",
            model="m",
            sandbox_network="allow",
            prices={"m": Price(), "mine": Price(1, 1)},
            administrator_settings=(above,),
        )
    )
    prices = service.settings.prices
    assert (prices["m"], prices["mine"]) == (Price(3, 4), Price(1, 1))
    sandbox = service.factory.tools.sandbox
    assert sandbox
    assert not sandbox.allows_network(may_write=True, asked=False)
    for model, code in (("other", "model_not_allowed"), ("m", "day_limit")):
        with pytest.raises(Forbidden) as refusal:
            service.current_model.check_direct(model)
        assert refusal.value.code == code
    with pytest.raises(Forbidden, match="does not allow the model 'other'"):
        service.current_model.stream(ModelRequest([], "other"))
    context = service.conversations.create()
    service.new_jobs.day.add(Usage(total_tokens=1), "m")
    with pytest.raises(Forbidden, match="1 tokens per day is reached"):
        service.send_message(context.id, "Hello")
    await service.close()


def prices_of(folder: Path, **settings: Any) -> Mapping[str, Price]:
    """What models cost in a service with these settings."""
    return build_service(Settings(folder, folder / "data", **settings)).settings.prices


def test_what_providers_charge_counts_where_nobody_has_set_a_price(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = prices_of(tmp_path)["gpt-6-sol"]
    assert usual.input > 0
    assert usual.as_of
    mine = {"gpt-6-sol": Price(1, 1)}
    assert prices_of(tmp_path, prices=mine)["gpt-6-sol"] == Price(1, 1)
    assert prices_of(tmp_path, currency="EUR") == {}, "they are in dollars"
    above = tmp_path / "administrator.json"
    above.write_text('{"prices": {"gpt-6-sol": {"input": 3, "output": 4, "as_of": "2026-11-01"}}}')
    monkeypatch.setattr(settings_file, "is_beyond_user", lambda _: True)
    settled = prices_of(tmp_path, prices=mine, administrator_settings=(above,))
    assert settled["gpt-6-sol"] == Price(3, 4, "2026-11-01")


@pytest.mark.asyncio
async def test_settings_that_need_a_missing_part_break_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "listed_parts", dict)
    settings = Settings(tmp_path, tmp_path / "data", workers="dask")
    settings.user_settings.parent.mkdir(parents=True, exist_ok=True)
    settings.user_settings.write_text('{"model": {"local": "/models/small.gguf"}}')
    service = build_service(settings)
    model = (await service.health()).model
    assert (model.ready, model.name) == (False, "small")
    assert "made without local models" in (model.why_not or "")
    with pytest.raises(Unavailable, match="made without"):
        await service.plans.pool.prepare()
    await service.close()
