"""What is known of models: kept by server and name, for a while, in one file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.settings import Connection
from cowork_jupyter.llm.known_models import KnownModels
from tests.scripted import ScriptedServer

HERE, THERE = Connection("http://here/v1", "m"), Connection("http://there/v1", "m")
DAY = 86_400


def known(file: Path, connection: Connection = HERE, **more: Any) -> KnownModels:
    return KnownModels(file, lambda: connection, **more)


def test_what_was_learnt_outlives_the_process_and_holds_for_that_server_only(
    tmp_path: Path,
) -> None:
    file = tmp_path / "data" / "models.json"
    learning = known(file)
    learning.learn_window("m", 4_096)
    learning.learn_protocol("m", "json")
    known(file, THERE).learn_window("m", 9_000)
    assert (known(file).window("m"), known(file).protocol("auto", "m")) == (4_096, "json")
    assert (known(file).window("n"), known(file, THERE).window("m")) == (None, 9_000)


def test_a_protocol_that_was_learnt_counts_unless_one_is_chosen(tmp_path: Path) -> None:
    models = known(tmp_path / "models.json")
    assert models.protocol("auto", "gpt-5") == "native"
    models.learn_protocol("gpt-5", "code")
    assert models.protocol("auto", "gpt-5") == "code"
    assert models.protocol("native", "gpt-5") == "native"


def test_a_provider_is_known_for_what_its_models_take(tmp_path: Path) -> None:
    openai = Connection("https://api.openai.com/v1", "gpt-6-sol")
    models = known(tmp_path / "models.json", openai)
    assert (models.window("gpt-6-sol"), models.protocol("auto", "gpt-6-sol")) == (1_050_000, "json")
    assert models.protocol("native", "gpt-6-sol") == "native"
    models.learn_window("gpt-6-sol", 4_096)
    assert models.window("gpt-6-sol") == 4_096
    elsewhere = known(tmp_path / "others.json", THERE)
    assert elsewhere.window("gpt-6-sol") is None
    assert elsewhere.protocol("auto", "gpt-6-sol") == "native"


def test_after_a_day_it_is_tried_again(tmp_path: Path) -> None:
    file, now = tmp_path / "models.json", 1_000_000.0
    known(file, clock=lambda: now).learn_window("m", 4_096)
    assert known(file, clock=lambda: now + DAY - 1).window("m") == 4_096
    assert known(file, clock=lambda: now + DAY).window("m") is None


def test_the_smaller_of_what_is_set_and_what_was_learnt_counts(tmp_path: Path) -> None:
    models = known(tmp_path / "models.json", context_size=8_192)
    assert models.window("m") == 8_192
    models.learn_window("m", 4_096)
    assert models.window("m") == 4_096


@pytest.mark.parametrize("content", ["", "[]", '{"http://here/v1 m": {"window": "x"}}'])
def test_a_file_that_cannot_be_read_is_as_good_as_none(tmp_path: Path, content: str) -> None:
    file = tmp_path / "models.json"
    file.write_text(content)
    models = known(file)
    assert models.window("m") is None
    models.learn_window("m", 4_096)
    assert known(file).window("m") == 4_096


def test_no_credentials_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "models.json"
    known(file, Connection("http://user:secret@here/v1", "m", "sk-key")).learn_window("m", 1)
    assert "secret" not in file.read_text()
    assert "sk-key" not in file.read_text()


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("listed", "window", "protocol"),
    [
        ({}, None, "json"),
        ({"max_model_len": 8_192}, 8_192, "json"),
        ({"meta": {"n_ctx_train": 32_768}}, 32_768, "json"),
        ({"n_ctx": 4_096, "max_context_length": 32_768}, 4_096, "json"),
        ({"supported_parameters": ["tools"]}, None, "native"),
        ({"capabilities": {"function_calling": True}}, None, "native"),
        ({"capabilities": ["tool_use"], "loaded_context_length": 2_048}, 2_048, "native"),
    ],
)
async def test_the_servers_list_is_read(
    scripted: ScriptedServer, listed: dict[str, Any], window: int | None, protocol: str
) -> None:
    scripted.listed = listed
    models = KnownModels(connection=lambda: Connection(scripted.base_url, "scripted"))
    await models.look()
    assert (models.window("scripted"), models.protocol("auto", "scripted")) == (window, protocol)


@pytest.mark.asyncio
async def test_a_server_that_is_not_there_is_no_trouble() -> None:
    models = KnownModels(connection=lambda: Connection("http://127.0.0.1:9/v1", "m"))
    await models.look()
    assert models.window("m") is None
