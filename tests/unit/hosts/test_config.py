"""Which model is used, from which of the places one can say it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from traitlets import TraitError
from traitlets.config import Config

from cowork_jupyter.domain.settings import CONFIGURATION, ENVIRONMENT, FieldNames, Price, Settings
from cowork_jupyter.hosts.config import OPENAI_URL, Cowork


def settings(config: Config | None = None) -> Settings:
    return Cowork(config=config or Config()).settings(workspace="/work")


def test_nothing_configured_means_no_server() -> None:
    assert (settings().base_url, settings().model, settings().api_key) == ("", "", "")


def test_our_variables_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COWORK_BASE_URL", "http://here/v1/")
    monkeypatch.setenv("COWORK_MODEL", "mine")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://there/v1")
    assert (settings().base_url, settings().model) == ("http://here/v1", "mine")


def test_openais_variables_are_used_without_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://there/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
    assert (settings().base_url, settings().api_key) == ("http://there/v1", "sk-openai")


def test_an_openai_key_alone_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
    found = settings()
    assert (found.base_url, found.api_key) == (OPENAI_URL, "sk-openai")
    assert found.model


def test_an_openai_key_never_goes_to_another_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
    monkeypatch.setenv("COWORK_BASE_URL", "http://here/v1")
    assert settings().api_key == ""
    monkeypatch.delenv("COWORK_BASE_URL")
    assert settings(Config({"Cowork": {"base_url": "http://configured/v1"}})).api_key == ""


def test_configuration_files_and_flags_win_over_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COWORK_MODEL", "from-environment")
    config = Config({"Cowork": {"model": "from-file", "max_parallel": 2}})
    assert (settings(config).model, settings(config).max_parallel) == ("from-file", 2)


@pytest.mark.parametrize(
    ("environment", "configured", "fields"),
    [
        ({"COWORK_BASE_URL": "http://a/v1"}, {}, ENVIRONMENT),
        ({"COWORK_MODEL": "m"}, {}, ENVIRONMENT),
        ({}, {"base_url": "http://a/v1"}, CONFIGURATION),
        ({"COWORK_BASE_URL": "http://b/v1"}, {"base_url": "http://a/v1"}, CONFIGURATION),
        (
            {"OPENAI_API_KEY": "k"},
            {},
            replace(ENVIRONMENT, address="OPENAI_BASE_URL", key="OPENAI_API_KEY"),
        ),
        (
            {"COWORK_API_KEY": "k"},
            {"base_url": "http://a/v1", "model": "m"},
            replace(CONFIGURATION, key="COWORK_API_KEY"),
        ),
    ],
)
def test_each_part_of_the_connection_is_known_by_where_it_was_set(
    monkeypatch: pytest.MonkeyPatch,
    environment: dict[str, str],
    configured: dict[str, str],
    fields: FieldNames,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert settings(Config({"Cowork": configured})).connection.fields == fields


def test_the_defaults_are_those_of_the_contract() -> None:
    found = settings()
    assert (found.max_iterations, found.max_seconds, found.max_parallel) == (30, 300, 4)
    assert (found.tool_protocol, found.sandbox) == ("auto", "auto")


def test_prices_are_given_by_model_for_a_million_tokens() -> None:
    prices = {"mine": {"input": 0.25, "output": 2}}
    found = settings(Config({"Cowork": {"prices": prices, "currency": "EUR", "max_cost": 5}}))
    assert found.prices == {"mine": Price(input=0.25, output=2)}
    assert (found.currency, found.max_cost) == ("EUR", 5.0)


@pytest.mark.parametrize("price", [{"in": 1}, {"input": -1}, {"input": "1"}, 3])
def test_a_price_that_cannot_be_read_is_refused_by_name(price: object) -> None:
    with pytest.raises(TraitError, match="prices: 'mine'"):
        settings(Config({"Cowork": {"prices": {"mine": price}}}))


def test_a_job_is_not_limited_in_tokens_or_money_unless_asked() -> None:
    found = settings()
    assert (found.max_job_tokens, found.max_cost) == (0, 0)
    assert found.max_job_iterations > 20 * found.max_iterations
    assert found.max_job_seconds > 20 * found.max_seconds


def test_the_workspace_is_the_hosts_unless_configured() -> None:
    assert settings().workspace == Path("/work")
    assert settings(Config({"Cowork": {"workspace": "/else"}})).workspace == Path("/else")


def test_the_key_is_not_in_what_gets_printed() -> None:
    config = Config({"Cowork": {"api_key": "sk-secret"}})
    assert "sk-secret" not in repr(settings(config))


def test_what_a_request_says_is_only_what_was_set() -> None:
    assert settings().request_options == {}
    given = {"temperature": 0, "reasoning_effort": "low", "extra_body": {"top_k": 40}}
    expected = {"temperature": 0, "reasoning_effort": "low", "top_k": 40}
    assert settings(Config({"Cowork": given})).request_options == expected
