"""Values from the environment: filled in for the server, and seen by nobody else."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from cowork_jupyter.domain.redaction import HIDDEN, Mask
from cowork_jupyter.parts.mcp.config import ServerEntry
from cowork_jupyter.parts.mcp.secrets import (
    Resolved,
    VariableMissing,
    masked_entry,
    resolve,
)

AROUND = {"TOKEN": "s3cret-token", "HOME": "/home/ada", "SHORT": "ab"}


def filled(**entry: Any) -> Resolved:
    return resolve(ServerEntry(**entry), AROUND, "/work")


def test_names_are_filled_in_wherever_they_stand() -> None:
    got = filled(
        command="${HOME}/bin/x",
        args=["--key=${TOKEN}", "${MISSING:-default}", "${env:TOKEN}", "${EMPTY:-}", "$TOKEN"],
        env={"A": "${TOKEN}"},
        headers={"Authorization": "Bearer ${TOKEN}"},
        cwd="${workspaceFolder}",
        url="http://x/?k=${TOKEN}",
    )
    assert got.command == "/home/ada/bin/x"
    assert got.args == ["--key=s3cret-token", "default", "s3cret-token", "", "$TOKEN"]
    assert got.env == {"A": "s3cret-token"}
    assert got.headers == {"Authorization": "Bearer s3cret-token"}
    assert (got.cwd, got.url) == ("/work", "http://x/?k=s3cret-token")
    assert "s3cret-token" in got.secrets
    assert "/home/ada" not in got.secrets
    assert "s3cret" not in repr(got.secrets - got.secrets)


def test_a_name_that_is_not_there_is_named() -> None:
    with pytest.raises(VariableMissing, match="environment variable NOPE, which is not set"):
        filled(command="x", env={"A": "${NOPE}"})


@pytest.mark.parametrize(
    ("entry", "secret"),
    [
        ({"env": {"API_KEY": "typed-here"}}, "typed-here"),
        ({"headers": {"X": "Bearer typed-here"}}, "typed-here"),
        ({"url": "http://u:typed-here@x/"}, "typed-here"),
        ({"url": "http://x/?api_key=typed-here&page=12345"}, "typed-here"),
        ({"args": ["${TOKEN}"]}, "s3cret-token"),
    ],
)
def test_what_is_secret_is_known_as_such(entry: dict[str, Any], secret: str) -> None:
    got = filled(**entry)
    assert secret in got.secrets
    assert Mask(got.secrets)(f"a {secret} b") == f"a {HIDDEN} b"


def test_plain_values_and_short_ones_tear_no_holes() -> None:
    got = filled(env={"NODE_ENV": "production", "A": "${SHORT}"}, url="http://x/?page=12345")
    assert got.secrets == frozenset()


def test_secrets_are_hidden_in_every_form() -> None:
    secret = 'a"b/c d-secret'
    mask = Mask([secret])
    forms = [
        secret,
        quote(secret, safe=""),
        base64.b64encode(secret.encode()).decode(),
        'a\\"b/c d-secret',
    ]
    for form in forms:
        assert "secret" not in mask(f"x{form}x")
    nested = {"k": [{secret: secret}, 3, None, True]}
    assert mask.everywhere(nested) == {"k": [{HIDDEN: HIDDEN}, 3, None, True]}
    assert Mask()(secret) == secret
    assert Mask().everywhere(nested) is nested


def test_an_entry_is_shown_without_values() -> None:
    told = masked_entry(
        ServerEntry(
            command="x",
            args=["--token", "abc", "--api-key=abc", "-v", "--token", "${TOKEN}", "plain"],
            env={"A": "${TOKEN}", "B": "abc", "C": "${TOKEN:-abc}"},
            headers={"H": "Bearer abc"},
            url="https://user:abc@host/path?key=abc&ref=${TOKEN}",
        )
    )
    assert "abc" not in str(told)
    assert told["args"] == [
        "--token",
        HIDDEN,
        f"--api-key={HIDDEN}",
        "-v",
        "--token",
        "${TOKEN}",
        "plain",
    ]
    assert told["env"] == {"A": "${TOKEN}", "B": HIDDEN, "C": HIDDEN}
    assert told["url"] == f"https://{HIDDEN}@host/path?key={HIDDEN}&ref=${{TOKEN}}"


def test_a_path_counts_from_where_the_server_runs(tmp_path: Path) -> None:
    program = tmp_path / "sub" / "serve"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)

    def found(**entry: Any) -> str | None:
        return resolve(ServerEntry(**entry), {}, str(tmp_path)).program()

    assert found(command="./serve", cwd="sub") == f"{program.parent}/./serve"
    assert found(command="sub/serve") == str(program)
    assert found(command="./serve") is None
    assert found(command="serve", env={"PATH": str(program.parent)}) == str(program)
    assert found(command="serve") is None
