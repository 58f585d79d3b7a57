"""The doctor on MCP servers: all of them listed, none of them started."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.parts.mcp.doctor import examine_servers
from tests.unit.domain.test_health import hide_package


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "work" / ".cowork").mkdir(parents=True)
    return Settings(workspace=tmp_path / "work", data_dir=tmp_path)


def configure(settings: Settings, **servers: Any) -> None:
    settings.user_settings.write_text(json.dumps({"mcpServers": servers}))


def test_none_is_fine(settings: Settings) -> None:
    assert examine_servers(settings).message == "none configured"


def test_all_are_listed_and_what_is_missing_is_named(settings: Settings) -> None:
    good = {"command": sys.executable}
    configure(settings, good=good, web={"url": "http://x"}, off={**good, "disabled": True})
    shipped = settings.workspace / ".cowork" / "settings.json"
    shipped.write_text(json.dumps({"mcpServers": {"theirs": good}}))
    found = examine_servers(settings)
    assert found.ok
    assert found.message == (
        "good (stdio); web (http); off (stdio): disabled; "
        "theirs (stdio): it came with this folder and is not trusted"
    )
    broken = {"a": {"command": "no-such-program"}, "b": {**good, "env": {"K": "${NOT_SET_X}"}}}
    configure(settings, good=good, **broken, c=3)
    found = examine_servers(settings)
    assert not found.ok
    assert "a (stdio): the program 'no-such-program' is not installed" in found.message
    assert "b (stdio): it needs the environment variable NOT_SET_X" in found.message
    assert "c: it is not an object" in found.message


def test_without_the_package_it_says_how_to_get_it(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(settings, web={"url": "http://x"})
    hide_package(monkeypatch)
    found = examine_servers(settings)
    assert not found.ok
    assert found.message.endswith("pip install 'cowork-jupyter[mcp]'")
