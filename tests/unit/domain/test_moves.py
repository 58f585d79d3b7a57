from __future__ import annotations

import pytest

from cowork_jupyter.domain.events import FileMoved
from cowork_jupyter.domain.moves import current_path, moved_path


@pytest.mark.parametrize(
    ("path", "moved"),
    [
        ("a.ipynb", "b/c.ipynb"),
        ("./a.ipynb", "b/c.ipynb"),
        ("a.ipynb.bak", "a.ipynb.bak"),
        ("sub/a.ipynb", "sub/a.ipynb"),
    ],
)
def test_only_the_file_itself_moves(path: str, moved: str) -> None:
    assert moved_path(path, "a.ipynb", "b/c.ipynb") == moved


def test_what_is_in_a_folder_moves_with_it() -> None:
    assert moved_path("old/x/*.csv", "old", "new") == "new/x/*.csv"
    assert moved_path("older/x", "old", "new") == "older/x"


def test_moves_follow_one_another() -> None:
    moves = [FileMoved(old="a", new="b"), FileMoved(old="b", new="c/b")]
    assert current_path("a/n.ipynb", moves) == "c/b/n.ipynb"
