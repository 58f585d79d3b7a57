"""Ids and times."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from cowork_jupyter.domain.identity import new_id, now


def test_ids_do_not_repeat_and_carry_their_kind() -> None:
    ids = {new_id("ctx") for _ in range(5000)}
    assert len(ids) == 5000
    assert all(re.fullmatch(r"ctx_[0-9a-z]{20}", one) for one in ids)


def test_later_ids_sort_later() -> None:
    first = new_id("m")
    start = now()
    while now() == start:
        pass
    assert first < new_id("m")


def test_now_is_utc_and_says_so() -> None:
    assert now().endswith("Z")
    assert abs((datetime.now(UTC) - datetime.fromisoformat(now())).total_seconds()) < 60
