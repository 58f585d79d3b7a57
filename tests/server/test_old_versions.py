"""What an older version said of its record over the API, this one says too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from measure.soak.seen import Seen
from tests.unit.store.old_versions import ADDRESSES, COMMITS, KEPT, load

from .api import Api


@pytest.fixture(params=COMMITS)
def shown(request: pytest.FixtureRequest, jp_data_dir: Path) -> dict[str, dict[str, Any]]:
    """By conversation and address; the record is where the server looks for it."""
    folder = jp_data_dir / "cowork"
    folder.mkdir(parents=True)
    load(request.param, folder / "cowork.sqlite")
    said: dict[str, dict[str, Any]] = json.loads((KEPT / f"{request.param}.json").read_text())
    return said


def differences(old: Any, new: Any, place: str) -> list[str]:
    """Where something that was said before is not said any more; more may be said."""
    if isinstance(old, dict) and isinstance(new, dict):
        return [
            found
            for name, value in old.items()
            for found in differences(value, new.get(name), f"{place}.{name}")
        ]
    if isinstance(old, list | tuple) and isinstance(new, list | tuple) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        return [found for at, pair in pairs for found in differences(*pair, f"{place}[{at}]")]
    return [] if old == new else [f"{place}: {old!r} was said, now {new!r}"]


def told(answer: dict[str, Any]) -> Seen:
    seen = Seen()
    for event in answer["events"]:
        assert not seen.take(event)
    return seen


async def test_messages_plans_jobs_and_events_are_as_they_were(
    api: Api, shown: dict[str, dict[str, Any]]
) -> None:
    for context, said in shown.items():
        is_over = said[""]["title"] == "Old talk"
        for address in ADDRESSES:
            now = await api.get(f"context/{context}{address}")
            if address.startswith("/events"):
                before, after = told(said[address]), told(now)
                kept = {seq: after.events.get(seq) for seq in before.events}
                assert not differences(before.events, kept, address)
                assert before.texts == after.texts
            elif is_over:
                said[address].pop("store", None)  # the contents of checkpoints were not kept
                assert not differences(said[address], now, address)
            elif address == "/messages":
                before = said[address]["items"]
                assert not differences(before, now["items"][: len(before)], address)
        if not is_over:
            (job,) = (await api.get(f"context/{context}/jobs"))["items"]
            assert job["status"] == "interrupted"
            (question,) = (await api.get(f"context/{context}/questions"))["items"]
            assert question["question"] == "Which year?"
