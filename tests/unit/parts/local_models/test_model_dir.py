"""Which file a name means, and what is in the folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from cowork_jupyter.domain.errors import InvalidInput, NotFound
from cowork_jupyter.parts.local_models.download import part_of
from cowork_jupyter.parts.local_models.model_dir import CATALOGUE, ModelDir, find_recommended


def test_each_can_be_found_by_its_name_and_may_be_used_for_anything() -> None:
    for one in CATALOGUE:
        assert find_recommended(one.name.upper()) is one
        assert one.licence == "Apache-2.0"
        assert one.file.endswith(".gguf")
        assert one.memory > one.size
    assert find_recommended("qwen2.5-coder-3b") is None


def test_names_and_files_are_unique_and_go_from_small_to_large() -> None:
    assert len({one.name for one in CATALOGUE}) == len({one.file for one in CATALOGUE})
    assert [one.size for one in CATALOGUE] == sorted(one.size for one in CATALOGUE)


NAME = CATALOGUE[0].name


@pytest.fixture
def model_dir(tmp_path: Path) -> ModelDir:
    made = ModelDir(tmp_path)
    made.folder.mkdir()
    return made


def test_a_name_means_the_downloaded_file(model_dir: ModelDir) -> None:
    with pytest.raises(NotFound, match=f"jupyter cowork model get {NAME}"):
        model_dir.find(NAME)
    model_dir.place_of(NAME).write_bytes(b"GGUF")
    assert model_dir.find(NAME) == model_dir.folder / CATALOGUE[0].file


def test_a_path_means_any_model_file(
    model_dir: ModelDir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.gguf").write_bytes(b"GGUF")
    assert model_dir.find("my.gguf") == tmp_path / "my.gguf"
    (tmp_path / "other.gguf").write_bytes(b"PK\x03\x04")
    with pytest.raises(InvalidInput, match="is not a GGUF model file"):
        model_dir.find("other.gguf")
    with pytest.raises(NotFound, match=f"no file {tmp_path / 'third.gguf'}"):
        model_dir.find("third.gguf")


def test_a_name_that_nobody_has_tells_which_there_are(model_dir: ModelDir) -> None:
    with pytest.raises(NotFound, match=NAME):
        model_dir.find("gpt-5")


def test_removing_takes_the_file_and_its_parts_and_nothing_else(model_dir: ModelDir) -> None:
    place, mine = model_dir.place_of(NAME), model_dir.folder / "mine.gguf"
    for file in (place, part_of(place, "ab" * 32), mine):
        file.write_bytes(b"GGUF")
    assert model_dir.remove(NAME) == 8
    assert list(model_dir.folder.iterdir()) == [mine]
    assert model_dir.others() == [mine]
    with pytest.raises(NotFound, match="is not downloaded"):
        model_dir.remove(NAME)
