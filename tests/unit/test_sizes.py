"""No file of the package is too long to be read at once."""

from __future__ import annotations

from pathlib import Path

from tests.sizes import MAX_LINES, long_files


def test_a_file_that_is_too_long_is_named_with_its_length(tmp_path: Path) -> None:
    (tmp_path / "fits.py").write_text("x = 1\n" * MAX_LINES)
    (tmp_path / "long.py").write_text("x = 1\n" * (MAX_LINES + 1))
    assert list(long_files(tmp_path)) == ["long.py: 701 lines, at most 700"]
