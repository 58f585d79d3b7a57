"""How many threads serve a model."""

from __future__ import annotations

import pytest

from cowork_jupyter.parts.local_models.serve import threads_within


@pytest.mark.parametrize(
    ("machine", "granted", "quota", "expected"),
    [
        (8, 8, "", None),
        (8, 8, "max 100000\n", None),
        (8, 2, "max 100000\n", 2),
        (64, 64, "400000 100000\n", 4),
        (64, 2, "400000 100000\n", 2),
        (8, 8, "50000 100000\n", 1),
        (8, 8, "1600000 100000\n", None),
    ],
)
def test_a_container_serves_with_what_it_was_given_and_a_whole_machine_as_the_library_likes(
    machine: int, granted: int, quota: str, expected: int | None
) -> None:
    assert threads_within(machine, granted, quota) == expected
