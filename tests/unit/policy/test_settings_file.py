"""The file that decides where nobody can be asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from cowork_jupyter.domain.errors import InvalidInput
from cowork_jupyter.policy.settings_file import read_policy

RULES = {"permissions": {"allow": ["create_file"], "deny": ["execute_command"]}}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.json", '{"permissions": {"allow": ["create_file"], "deny": ["execute_command"]}}'),
        ("p.toml", '[permissions]\nallow = ["create_file"]\ndeny = ["execute_command"]\n'),
    ],
)
def test_it_is_json_or_toml(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert read_policy(str(tmp_path / name)) == RULES


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"permissions": []}', '{"allow": []}'])
def test_what_is_no_policy_is_said_in_one_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "p.json"
    file.write_text(text)
    with pytest.raises(InvalidInput, match=r"policy file .*p\.json") as problem:
        read_policy(str(file))
    assert "\n" not in str(problem.value)


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="No such file"):
        read_policy(str(tmp_path / "none.json"))
