"""Which file a name means, and what is on the shelf."""

from __future__ import annotations

from pathlib import Path

import pytest

from cowork_jupyter.domain.errors import InvalidInput, NotFound
from cowork_jupyter.local.catalogue import CATALOGUE
from cowork_jupyter.local.download import part_of
from cowork_jupyter.local.shelf import Shelf

NAME = CATALOGUE[0].name


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    made = Shelf(tmp_path)
    made.folder.mkdir()
    return made


def test_a_name_means_the_downloaded_file(shelf: Shelf) -> None:
    with pytest.raises(NotFound, match=f"jupyter cowork model get {NAME}"):
        shelf.find(NAME)
    shelf.place_of(NAME).write_bytes(b"GGUF")
    assert shelf.find(NAME) == shelf.folder / CATALOGUE[0].file


def test_a_path_means_any_model_file(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.gguf").write_bytes(b"GGUF")
    assert shelf.find("my.gguf") == tmp_path / "my.gguf"
    (tmp_path / "other.gguf").write_bytes(b"PK\x03\x04")
    with pytest.raises(InvalidInput, match="does not begin as a GGUF file does"):
        shelf.find("other.gguf")
    with pytest.raises(NotFound, match=f"no file {tmp_path / 'third.gguf'}"):
        shelf.find("third.gguf")


def test_a_name_that_nobody_has_tells_which_there_are(shelf: Shelf) -> None:
    with pytest.raises(NotFound, match=NAME):
        shelf.find("gpt-5")


def test_removing_takes_the_file_and_its_parts_and_nothing_else(shelf: Shelf) -> None:
    place, mine = shelf.place_of(NAME), shelf.folder / "mine.gguf"
    for file in (place, part_of(place, "ab" * 32), mine):
        file.write_bytes(b"GGUF")
    assert shelf.remove(NAME) == 8
    assert list(shelf.folder.iterdir()) == [mine]
    assert shelf.others() == [mine]
    with pytest.raises(NotFound, match="is not here"):
        shelf.remove(NAME)
