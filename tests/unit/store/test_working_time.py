"""Working time: no waits for the user, no downtime."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.contexts import Context, Job, JobStatus, StepStatus, Task
from cowork_jupyter.domain.events import TextStreamed
from cowork_jupyter.store import Store, UserRequest

BEGAN = datetime(2026, 11, 19, tzinfo=UTC)


class Site:
    """A job in a store whose clock goes on only when told to."""

    def __init__(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        self.store, self.at = store, BEGAN
        monkeypatch.setattr("cowork_jupyter.store.transaction.now", self.now)
        monkeypatch.setattr("cowork_jupyter.store.recovery.now", self.now)
        context = store.save_context(Context(title="t"))
        self.job = Job(context_id=context.id, created_at=self.now())
        self.save_job(JobStatus.RUNNING)

    def now(self) -> str:
        return self.at.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def wait(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)

    def save_job(self, status: JobStatus) -> None:
        with self.store.transaction() as tx:
            tx.save_job(self.job.model_copy(update={"status": status}))

    def save_task(self, name: str, status: StepStatus) -> None:
        place: Any = {"job_id": self.job.id, "context_id": self.job.context_id}
        with self.store.transaction() as tx:
            tx.save_task(Task(id=name, step_id=name, status=status, **place))

    def ask(self, name: str, task: str | None = None, status: str = "pending") -> None:
        place: Any = {"context_id": self.job.context_id, "job_id": self.job.id, "task_id": task}
        with self.store.transaction() as tx:
            tx.save_request(UserRequest(id=name, status=status, **place))

    @property
    def worked(self) -> float:
        return self.store.job(self.job.id).worked_seconds

    def task_worked(self, name: str) -> float:
        return self.store.task(name).worked_seconds


@pytest.fixture
def site(store: Store, monkeypatch: pytest.MonkeyPatch) -> Site:
    return Site(store, monkeypatch)


def test_a_job_works_from_its_start_to_its_end(site: Site) -> None:
    site.wait(12.5)
    site.save_job(JobStatus.COMPLETED)
    site.wait(100)
    known = site.store.job(site.job.id)
    assert (known.working_seconds, known.working_since) == (12.5, None)


def test_waits_for_the_user_are_left_out(site: Site) -> None:
    site.wait(2)
    site.ask("q")
    site.wait(500)
    site.ask("q", status="answered")
    site.wait(3)
    site.save_job(JobStatus.COMPLETED)
    assert site.worked == 5


def test_while_another_step_works_a_job_does_too(site: Site) -> None:
    site.save_task("a", StepStatus.RUNNING)
    site.save_task("b", StepStatus.RUNNING)
    site.wait(1)
    site.ask("q", "a")
    site.wait(10)  # b works
    site.save_task("b", StepStatus.COMPLETED)
    site.wait(100)  # nobody does
    site.ask("q", "a", "answered")
    site.wait(4)
    site.save_task("a", StepStatus.COMPLETED)
    site.save_job(JobStatus.COMPLETED)
    assert (site.task_worked("a"), site.task_worked("b"), site.worked) == (5, 11, 15)


def test_what_is_stored_of_an_older_copy_does_not_turn_the_clock_back(site: Site) -> None:
    site.save_task("a", StepStatus.RUNNING)
    site.wait(3)
    site.save_task("a", StepStatus.WAITING)
    site.wait(3)
    site.save_task("a", StepStatus.RUNNING)
    site.wait(2)
    site.save_task("a", StepStatus.COMPLETED)
    assert site.task_worked("a") == 5


def test_a_resumed_job_goes_on_counting(site: Site) -> None:
    site.wait(2)
    site.save_job(JobStatus.INTERRUPTED)
    site.wait(1000)
    site.save_job(JobStatus.RUNNING)
    site.wait(3)
    site.save_job(JobStatus.COMPLETED)
    assert site.worked == 5


def test_while_it_runs_the_time_goes_on(site: Site) -> None:
    running = site.store.job(site.job.id)
    assert running.worked_seconds == 0
    assert running.working_since == site.now()
    assert running.working_seconds > 0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cowork.sqlite"


def test_downtime_after_a_crash_is_left_out(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(path) as store:
        site = Site(store, monkeypatch)
        site.save_task("a", StepStatus.RUNNING)
        site.wait(7)
        with store.transaction() as tx:
            tx.append_event(site.job.context_id, TextStreamed(text="Hm"), site.job.id, "a")
    site.wait(3600)
    with Store(path) as site.store:
        site.store.recover()
        assert (site.worked, site.task_worked("a")) == (7, 7)
        (ended,) = site.store.events(site.job.context_id)[-1:]
        assert ended.data.model_dump()["worked_seconds"] == 7
