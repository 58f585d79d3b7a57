"""The check of names knows where each public class is."""

from __future__ import annotations

from pathlib import Path

from tests.names import public_classes


def test_public_classes_are_found_with_their_place(tmp_path: Path) -> None:
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "module.py").write_text("class A: pass\n\nclass _B: pass\n\nclass C: pass")
    assert list(public_classes(folder)) == [
        ("A", "package/module.py:1"),
        ("C", "package/module.py:5"),
    ]
