"""The check of imports finds circles that are hidden."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.circles import circle_in


@pytest.mark.parametrize(
    "back",
    ["from .a import x", "def f():\n    from . import a", "if TYPE_CHECKING:\n    import p.a"],
)
def test_a_circle_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, back: str) -> None:
    modules = {"__init__": "", "a": "from .b import y", "b": back, "c": "from .a import z"}
    (tmp_path / "p").mkdir()
    for name, text in modules.items():
        (tmp_path / "p" / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    assert set(circle_in("p")) == {"p.a", "p.b"}
