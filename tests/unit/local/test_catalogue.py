"""What is recommended."""

from __future__ import annotations

from cowork_jupyter.local.catalogue import CATALOGUE, recommended


def test_each_can_be_found_by_its_name_and_may_be_used_for_anything() -> None:
    for one in CATALOGUE:
        assert recommended(one.name.upper()) is one
        assert one.licence == "Apache-2.0"
        assert one.file.endswith(".gguf")
        assert one.memory > one.size
    assert recommended("qwen2.5-coder-3b") is None


def test_names_and_files_are_unique_and_go_from_small_to_large() -> None:
    assert len({one.name for one in CATALOGUE}) == len({one.file for one in CATALOGUE})
    assert [one.size for one in CATALOGUE] == sorted(one.size for one in CATALOGUE)
