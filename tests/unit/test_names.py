"""The check of names finds a vague one wherever a name is given."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.names import public_classes, vague_names


def package(folder: Path, text: str) -> Path:
    (folder / "package").mkdir()
    (folder / "package" / "module.py").write_text(text)
    return folder / "package"


@pytest.mark.parametrize(
    "text",
    [
        "one = 1",
        "SHOWN = 1",
        "[one for one in range(3)]",
        "for left, right in (): pass",
        "key = lambda one: -one",
        "def f(*, told): pass",
        "def _told(): pass",
        "async def shown(): pass",
        "class Shown: pass",
        "class C:\n    left: int",
        "self._told = 1",
        "if (shown := 1): pass",
        "with f() as one: pass",
        "from .a import shown",
        "from .a import b as told",
        "match 1:\n    case [*one]: pass",
        "match 1:\n    case {**left}: pass",
        "try: pass\nexcept OSError as told: pass",
    ],
)
def test_a_vague_name_is_found(tmp_path: Path, text: str) -> None:
    assert [name.strip("_").lower() for name, _ in vague_names(package(tmp_path, text))]


@pytest.mark.parametrize(
    "text",
    [
        "step = self.one",  # somebody else's name
        "f(left=1)",
        "left_table = one_more = 1",
        "class PermissionRequest:\n    shown: str",
    ],
)
def test_other_names_are_not(tmp_path: Path, text: str) -> None:
    assert list(vague_names(package(tmp_path, text))) == []


def test_a_place_can_be_found(tmp_path: Path) -> None:
    folder = package(tmp_path, "class A: pass\n\ntold = 1")
    assert list(vague_names(folder)) == [("told", "package/module.py:3")]
    assert list(public_classes(folder)) == [("A", "package/module.py:1")]
