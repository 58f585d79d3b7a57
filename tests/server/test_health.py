"""`GET cowork/health` over HTTP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.settings import BUILT_IN
from cowork_jupyter.workspace.sandbox.sandbox import available_sandbox

from .api import PATIENCE, Api

pytestmark = pytest.mark.usefixtures("jp_serverapp")


async def health(fetch: Any, **parameters: str) -> Any:
    answer = await fetch("cowork", "health", params=parameters, request_timeout=PATIENCE)
    assert answer.headers["Content-Type"].startswith("application/json")
    return json.loads(answer.body)


async def test_it_answers_as_the_contract_says(jp_fetch: Any, jp_root_dir: Path) -> None:
    found = await health(jp_fetch)
    assert found["version"]
    assert found["problems"] == []
    assert {"provider", "name", "ready", "why_not"} <= set(found["model"])
    assert found["sandbox"] == available_sandbox("auto")
    assert found["workspace"] == str(jp_root_dir)


async def test_with_no_model_the_guide_answers_and_is_called_what_it_is(jp_fetch: Any) -> None:
    model = (await health(jp_fetch))["model"]
    assert model["ready"] is True
    assert (model["provider"], model["name"]) == ("built-in", BUILT_IN)


async def test_a_model_without_a_server_says_what_to_do(
    jp_fetch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COWORK_MODEL", "m")
    model = (await health(jp_fetch))["model"]
    assert model["ready"] is False
    assert "COWORK_BASE_URL" in model["why_not"]


async def test_a_wrong_base_url_is_told(jp_fetch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COWORK_BASE_URL", "http://127.0.0.1:9/v1")
    model = (await health(jp_fetch, fresh="true"))["model"]
    assert "Nothing answers at http://127.0.0.1:9/v1" in model["why_not"]


async def test_a_setting_that_cannot_be_is_named(api: Api, jp_serverapp: Any) -> None:
    (extension,) = jp_serverapp.extension_manager.extension_apps["cowork_jupyter"]
    extension.config.Cowork.tool_protocol = "xml"
    error = await api.refused("GET", "health", status=503, code="bad_settings")
    assert error["retryable"] is False
    assert "'tool_protocol'" in error["message"]


async def test_a_port_that_was_taken_is_told(
    jp_fetch: Any, jp_serverapp: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(jp_serverapp.config.ServerApp, "port", 4711)
    (problem,) = (await health(jp_fetch))["problems"]
    assert problem["code"] == "port_taken"
    assert (
        f"Port 4711 was in use, so this server listens on {jp_serverapp.port}" in problem["message"]
    )


class TestWithAWorkspaceNobodyCanWriteTo:
    @pytest.fixture
    def jp_argv(self) -> list[str]:
        return ["--Cowork.workspace=/proc", "--Cowork.model=from-the-command-line"]

    async def test_it_is_told_and_the_server_lives(self, jp_fetch: Any) -> None:
        found = await health(jp_fetch)
        assert found["workspace"] == "/proc"
        assert [problem["code"] for problem in found["problems"]] == ["workspace_not_writable"]
        assert found["model"]["name"] == "from-the-command-line"


async def test_an_unknown_address_gets_the_contracts_error(api: Api) -> None:
    await api.refused("GET", "no/such/thing", status=404, code="not_found")


async def test_a_failure_of_ours_shows_no_traceback(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cowork_jupyter.service.service import CoworkService

    def fail(*_args: Any, **_kwargs: Any) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(CoworkService, "health", fail)
    answer = await api.fetch("GET", "health")
    assert (answer.code, json.loads(answer.body)["error"]["code"]) == (500, "internal")
    assert b"secret detail" not in answer.body


async def test_roles_are_listed_with_their_looks(api: Api) -> None:
    answer = await api.get("roles")
    assert answer["next"] is None
    planner = next(role for role in answer["items"] if role["name"] == "planner")
    assert (planner["colour"], planner["permissions"]) == ("blue", ["read_files"])
    assert {"label", "icon", "description", "tools"} <= set(planner)
