"""Packages that come with extras: missing, too old, or here."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError

import pytest

from cowork_jupyter.domain import health
from cowork_jupyter.domain.health import missing_extra


def hide_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where it is not installed."""

    def missing(package: str) -> str:
        raise PackageNotFoundError(package)

    monkeypatch.setattr(health, "version", missing)


def test_what_is_here_lacks_nothing() -> None:
    assert missing_extra("mcp") == missing_extra("acp") == ""


def test_what_is_missing_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    hide_package(monkeypatch)
    assert missing_extra("mcp") == "A package is missing. Run: pip install 'cowork-jupyter[mcp]'"
    assert "cowork-jupyter[acp]" in missing_extra("acp")


@pytest.mark.parametrize(
    ("found", "is_enough"),
    [("1.30.0", False), ("2.0.0", True), ("2.3.0rc1", True), ("10.1", True), ("0.9", False)],
)
def test_what_somebody_else_brought_may_be_too_old(
    monkeypatch: pytest.MonkeyPatch, found: str, is_enough: bool
) -> None:
    monkeypatch.setattr(health, "version", lambda _package: found)
    assert (missing_extra("mcp") == "") is is_enough
    if not is_enough:
        assert f"mcp {found} is too old; 2 or newer is needed." in missing_extra("mcp")


@pytest.mark.parametrize(("found", "is_enough"), [("0.11.1", False), ("0.12.1", True)])
def test_smaller_numbers_count_too(
    monkeypatch: pytest.MonkeyPatch, found: str, is_enough: bool
) -> None:
    monkeypatch.setattr(health, "version", lambda _package: found)
    assert (missing_extra("acp") == "") is is_enough
