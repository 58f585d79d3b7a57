"""The presets: each is sound, and is found at its own address only."""

from __future__ import annotations

from datetime import date
from email.message import Message
from typing import Any

import pytest

from cowork_jupyter.domain.settings import KEY_VARIABLES, Connection
from cowork_jupyter.llm import model_probe
from cowork_jupyter.llm.model_probe import probe
from cowork_jupyter.llm.providers import (
    LOCAL_HOSTS,
    Provider,
    all_providers,
    find_model,
    provider_at,
)

KEY = "sk-of-this-provider-1"


def filled_in(provider: Provider) -> str:
    return provider.base_url.replace("{resource}", "mine").replace("{region}", "eu-west-1")


@pytest.mark.parametrize("provider", all_providers(), ids=lambda one: one.id)
def test_a_preset_is_sound(provider: Provider) -> None:
    is_local = provider.port is not None
    assert provider.base_url.startswith("http://" if is_local else "https://")
    assert bool(provider.key_variable) is not is_local
    assert is_local or provider.key_variable in KEY_VARIABLES, "else nothing would hide that key"
    assert provider_at(f"{filled_in(provider)}/") is provider
    for model in provider.models:
        if model.price:
            assert date.fromisoformat(model.price.as_of)
            assert 0 < model.price.input < model.price.output


def test_all_that_are_well_known_are_there() -> None:
    assert [one.id for one in all_providers()] == [
        *("openai", "anthropic", "google", "mistral", "openrouter", "azure", "bedrock"),
        *("ollama", "lmstudio", "vllm", "llama.cpp"),
    ]
    assert {"localhost"} <= LOCAL_HOSTS
    assert find_model("https://example.org/v1", "gpt-6-sol").price is None


class Seen:
    """Answers every look with these models, and keeps what was asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *models: str) -> None:
        self.body = str({"data": [{"id": one} for one in models]}).replace("'", '"').encode()
        self.requests: list[Any] = []
        monkeypatch.setattr(model_probe, "open_url", self)

    def __call__(self, request: Any, _timeout: float) -> Seen:
        self.requests.append(request)
        return self

    def __enter__(self) -> Seen:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def read(self, _size: int) -> bytes:
        return self.body


def test_anthropic_lists_its_models_to_who_says_it_in_its_own_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = Seen(monkeypatch, "claude")
    assert probe(Connection("https://api.anthropic.com/v1", "claude", KEY)).ready
    (request,) = seen.requests
    headers = Message()
    for name, value in request.header_items():
        headers[name] = value
    assert (headers["x-api-key"], headers["anthropic-version"]) == (KEY, "2023-06-01")
    assert headers["authorization"] is None


def test_google_calls_its_models_by_a_longer_name(monkeypatch: pytest.MonkeyPatch) -> None:
    Seen(monkeypatch, "models/gemini-3.8-flash")
    google = "https://generativelanguage.googleapis.com/v1beta/openai"
    assert probe(Connection(google, "gemini-3.8-flash", KEY)).ready
    assert find_model(google, "models/gemini-3.8-flash").context_size


def test_a_deployment_need_not_be_in_the_list_of_models(monkeypatch: pytest.MonkeyPatch) -> None:
    Seen(monkeypatch, "gpt-6-sol-2026-09-22")
    azure = Connection("https://mine.openai.azure.com/openai/v1", "our-gpt", KEY)
    assert probe(azure).ready
    elsewhere = Connection("https://example.org/v1", "our-gpt", KEY)
    assert probe(elsewhere).problem == "model"
