"""The soak of `make soak`, short: what it looks for in half an hour must not be there in one."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cowork_jupyter.domain.contexts import Context, Job
from cowork_jupyter.store import Store
from measure.soak.record import faults
from measure.soak.run import Options, soak
from measure.soak.seen import Seen, missing


@pytest.mark.slow
def test_a_short_soak_with_two_kills_and_a_full_disk(tmp_path: Path) -> None:
    options = Options(minutes=0.5, seed=11, users=3, kills=2, full_disks=1, full_seconds=3)
    report = asyncio.run(soak(options, tmp_path))
    assert not report.problems, "\n".join(report.problems)
    assert len(report.lives) == 3
    assert report.diary.events > 100
    assert report.jobs.get("completed", 0) > 3


def event(seq: int, kind: str, **data: object) -> dict[str, object]:
    return {"seq": seq, "type": kind, "job_id": "j", "task_id": None, "data": data}


def test_it_sees_what_the_record_has_lost() -> None:
    shown = Seen()
    for one in (event(1, "text-delta", text="a"), event(2, "text-delta", text="b")):
        assert not shown.take(one)
    assert not shown.take(event(3, "notice", message="n"))
    folded = [event(2, "text-delta", text="ab"), event(3, "notice", message="n")]
    assert not list(missing(shown, folded))
    cut = [event(2, "text-delta", text="b"), folded[1]]
    (lost,) = missing(shown, cut)
    assert lost.endswith("was shown 'ab', stored is 'b'")
    assert list(missing(shown, folded[:1])) == ["notice 3 was shown and is not in the record"]
    assert shown.take(event(3, "notice", message="n")) == "event 3 came after 3"


def test_it_sees_a_record_that_contradicts_itself(tmp_path: Path) -> None:
    path = tmp_path / "cowork.sqlite"
    with Store(path) as store:
        context = store.save_context(Context())
        with store.transaction() as tx:
            tx.save_job(Job(id="job", context_id=context.id))
    assert any("is running, and" in one for one in faults(path))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE jobs SET status='completed', owner=NULL")
        connection.commit()
    assert list(faults(path)) == ["a job has ended and nothing says so: ('job', 'completed')"]
