"""What answers: the configuration first, then what the user chose, else the guide."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cowork_jupyter.domain.errors import Conflict, Forbidden, InvalidInput
from cowork_jupyter.domain.settings import BUILT_IN, Settings
from cowork_jupyter.llm.chunks import ModelRequest
from cowork_jupyter.policy import settings_file
from cowork_jupyter.service.connections import Connections, CurrentModel
from tests.scripted import ScriptedServer, text

URL = "http://127.0.0.1:11434/v1"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(workspace=tmp_path, data_dir=tmp_path / "data", config_dir=tmp_path / "config")


@pytest.fixture
def ring(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], str]:
    """A keyring that is there for this test only."""
    kept: dict[tuple[str, str], str] = {}
    fake = SimpleNamespace(
        get_password=lambda service, name: kept.get((service, name)),
        set_password=lambda service, name, key: kept.__setitem__((service, name), key),
        delete_password=lambda service, name: kept.pop((service, name)),
    )
    monkeypatch.setitem(sys.modules, "keyring", fake)
    return kept


def chosen(settings: Settings, address: str = URL, key: str = "") -> Connections:
    """The connections after the user has chosen a server."""
    connections = Connections(settings)
    connections.choose(connections.propose(address, "qwen", key))
    return connections


def stored(settings: Settings) -> Any:
    return json.loads(settings.user_settings.read_text())


def test_with_nothing_said_the_guide_answers(settings: Settings) -> None:
    current = Connections(settings).current()
    assert (current.is_built_in, current.name) == (True, BUILT_IN)


@pytest.mark.parametrize(("base_url", "model"), [(URL, ""), ("", "m"), (URL, "m")])
def test_configuration_comes_first_and_nothing_is_chosen_over_it(
    tmp_path: Path, base_url: str, model: str
) -> None:
    settings = Settings(tmp_path, tmp_path, base_url=base_url, model=model)
    settings.user_settings.write_text('{"model": {"base_url": "http://other/v1", "model": "x"}}')
    connections = Connections(settings)
    assert connections.current() == settings.connection
    with pytest.raises(Conflict) as refused:
        connections.propose(URL, "m")
    assert refused.value.code == "model_configured"


@pytest.mark.usefixtures("ring")
def test_a_choice_outlasts_a_restart_and_leaves_other_settings_alone(settings: Settings) -> None:
    settings.user_settings.parent.mkdir()
    settings.user_settings.write_text('{"permissions": {"deny": ["delete_file"]}}')
    chosen(settings, f"{URL}/")
    again = Connections(settings).current()
    assert (again.base_url, again.model, again.source) == (URL, "qwen", "chosen")
    assert stored(settings)["permissions"] == {"deny": ["delete_file"]}
    connections = Connections(settings)
    assert connections.forget().is_built_in
    assert "model" not in stored(settings)


def test_a_key_goes_into_the_keyring_and_never_into_the_file(
    settings: Settings, ring: dict[tuple[str, str], str]
) -> None:
    chosen(settings, key="sk-very-secret")
    assert "sk-very-secret" in ring.values()
    assert "sk-very-secret" not in settings.user_settings.read_text()
    again = Connections(settings)
    assert again.current().api_key == "sk-very-secret"
    assert again.secrets() == ["sk-very-secret"]
    assert "sk-very-secret" not in repr(again.current())
    again.forget()
    assert ring == {}


def test_without_a_keyring_a_key_lasts_for_this_session(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    connections = chosen(settings, key="sk-very-secret")
    assert connections.current().api_key == "sk-very-secret"
    assert Connections(settings).current().api_key == ""


def test_a_keyring_that_breaks_is_as_good_as_none(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: str) -> str:
        raise RuntimeError("locked")

    fake = SimpleNamespace(get_password=broken, set_password=broken, delete_password=broken)
    monkeypatch.setitem(sys.modules, "keyring", fake)
    connections = chosen(settings, key="sk-very-secret")
    assert connections.current().api_key == "sk-very-secret"
    assert connections.forget().is_built_in


ANTHROPIC = "https://api.anthropic.com/v1"
AZURE = "https://{resource}.openai.azure.com/openai/v1"
KEY = "sk-ant-in-the-environment-1"


@pytest.fixture
def with_keys(settings: Settings) -> Settings:
    return replace(settings, keys={"ANTHROPIC_API_KEY": KEY, "AZURE_OPENAI_API_KEY": KEY})


def test_a_chosen_providers_key_is_taken_from_the_environment_and_kept_nowhere(
    with_keys: Settings, ring: dict[tuple[str, str], str]
) -> None:
    connections = Connections(with_keys)
    connections.choose(connections.propose(ANTHROPIC, "claude", provider="anthropic"))
    assert Connections(with_keys).current().api_key == KEY, "also after a restart"
    assert ring == {}
    assert KEY not in with_keys.user_settings.read_text()
    assert KEY in connections.secrets()
    typed = connections.choose(
        connections.propose(ANTHROPIC, "claude", "sk-typed", provider="anthropic")
    )
    assert typed.api_key == "sk-typed", "what was typed comes first"
    assert KEY not in ring.values()


@pytest.mark.usefixtures("ring")
@pytest.mark.parametrize(
    ("address", "provider"),
    [
        (ANTHROPIC, ""),
        (ANTHROPIC, "openai"),
        ("https://api.anthropic.com.example.org/v1", "anthropic"),
        ("http://api.anthropic.com/v1", "anthropic"),
        ("https://api.anthropic.com/v1@example.org/v1", "anthropic"),
        ("https://user@api.anthropic.com/v1", "anthropic"),
        ("https://example.org/.openai.azure.com/openai/v1", "azure"),
        ("https://a.example.org#.openai.azure.com/openai/v1", "azure"),
        ("https://a.b.openai.azure.com/openai/v1", "azure"),
        ("http://127.0.0.1:11434/v1", "anthropic"),
    ],
)
def test_a_key_of_the_environment_goes_to_no_other_address(
    with_keys: Settings, address: str, provider: str
) -> None:
    connections = Connections(with_keys)
    proposed = connections.propose(address, "m", provider=provider)
    assert proposed.api_key == ""
    assert connections.choose(proposed).api_key == ""


@pytest.mark.usefixtures("ring")
def test_what_is_the_users_own_in_an_address_is_to_be_filled_in(with_keys: Settings) -> None:
    connections = Connections(with_keys)
    with pytest.raises(InvalidInput, match=r"Replace \{resource\} in Address") as refused:
        connections.propose(AZURE, "m", provider="azure")
    assert refused.value.details["field"] == "address"
    mine = AZURE.replace("{resource}", "my-team")
    assert connections.propose(mine, "m", provider="azure").api_key == KEY


@pytest.mark.usefixtures("ring")
def test_a_small_model_is_remembered_and_the_configured_one_comes_first(
    settings: Settings,
) -> None:
    connections = Connections(settings)
    with pytest.raises(Conflict, match="Connect one first"):
        connections.with_small_model("tiny")
    connections.choose(connections.propose(URL, "qwen", small_model="tiny"))
    assert Connections(settings).current().small_model == "tiny"
    configured = Connections(replace(settings, small_model="set"))
    assert configured.current().small_model == "set"
    connections.choose(connections.with_small_model(""))
    assert "small_model" not in stored(settings)["model"]


@pytest.mark.usefixtures("ring")
def test_an_administrator_has_the_last_word_about_small_models_too(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    above = tmp_path / "administrator.json"
    above.write_text('{"models": ["qwen"]}')
    monkeypatch.setattr(settings_file, "is_beyond_user", lambda _: True)
    connections = Connections(replace(settings, administrator_settings=(above,)))
    with pytest.raises(Forbidden, match="tiny"):
        connections.choose(connections.propose(URL, "qwen", small_model="tiny"))
    assert connections.current().is_built_in


@pytest.mark.parametrize("address", ["", "localhost:1", "file:///etc/passwd", "ftp://x"])
def test_what_is_no_web_address_is_refused(settings: Settings, address: str) -> None:
    with pytest.raises(InvalidInput):
        Connections(settings).propose(address, "m")
    assert not settings.user_settings.exists()


@pytest.mark.parametrize("section", ["[]", '"x"', "{}", '{"base_url": 3}', '{"base_url": ""}'])
def test_a_choice_that_cannot_be_read_is_none(settings: Settings, section: str) -> None:
    settings.user_settings.parent.mkdir()
    settings.user_settings.write_text(f'{{"model": {section}}}')
    assert Connections(settings).current().is_built_in


@pytest.mark.asyncio
async def test_every_request_says_what_the_user_set(
    settings: Settings, scripted: ScriptedServer
) -> None:
    scripted.add(text("Hello."), text("Hello."))
    connected = replace(settings, base_url=scripted.base_url, model="scripted")
    wanted = replace(connected, temperature=0.0, reasoning_effort="low", extra_body={"top_k": 40})
    request = ModelRequest([{"role": "user", "content": "Hello"}], arguments={"max_tokens": 9})
    for one in (connected, wanted):
        model = CurrentModel(Connections(one), one.request_options)
        assert [chunk async for chunk in model.stream(request)]
        await model.aclose()
    own = {"model", "messages", "stream", "stream_options", "max_tokens"}
    plain, asked = (exchange.body for exchange in scripted.requests)
    assert set(plain) == own
    assert {name: asked[name] for name in set(asked) - own} == wanted.request_options
