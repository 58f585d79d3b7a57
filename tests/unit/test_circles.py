"""The check of imports finds circles however they are written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.circles import circle_in


def package(folder: Path, **modules: str) -> Path:
    for name, text in modules.items():
        path = folder / "package" / f"{name.replace('_of_', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "package"


@pytest.mark.parametrize(
    "back",
    [
        "from .a import x",
        "from . import a",
        "import package.a",
        "from package import a",
        "def f():\n    from .a import x",
        "if TYPE_CHECKING:\n    from .a import x",
        "from .c import x",
    ],
)
def test_a_circle_is_found(tmp_path: Path, back: str) -> None:
    found = circle_in(package(tmp_path, a="from .b import y", b=back, c="from .a import z"))
    assert found[0] == found[-1]
    assert {"package.a", "package.b"} <= set(found)


def test_a_circle_through_a_folder_is_found(tmp_path: Path) -> None:
    inner = "from ..a import x"
    found = circle_in(package(tmp_path, a="from .sub import b", sub_of___init__="", sub_of_b=inner))
    assert set(found) == {"package.a", "package.sub.b"}


def test_what_only_goes_down_is_no_circle(tmp_path: Path) -> None:
    below = "import json\nfrom . import c"
    assert circle_in(package(tmp_path, a="from .b import x\nfrom .c import y", b=below, c="")) == []
