"""A file arrives whole or not at all, whatever happens on the way."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import socket
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from cowork_jupyter.domain.errors import Conflict, CoworkError, NotFound, Unavailable
from cowork_jupyter.parts.local_models import download as module
from cowork_jupyter.parts.local_models.download import (
    MAX_FRUITLESS,
    Progress,
    PublishedFile,
    describe,
    download,
    part_of,
)
from cowork_jupyter.parts.local_models.model_dir import CATALOGUE

from .publisher import CONTENT, WANTED, Publisher


def test_size_and_checksum_are_the_publishers(publisher: Publisher, client: httpx.Client) -> None:
    found = describe(WANTED, client, f"{publisher.address}/")
    assert (found.size, found.sha256) == (len(CONTENT), hashlib.sha256(CONTENT).hexdigest())
    assert found.address.startswith(f"{publisher.address}/{WANTED.repository}/resolve/main/")


def test_a_file_without_a_checksum_is_not_downloaded(
    publisher: Publisher, client: httpx.Client
) -> None:
    publisher.sha256 = ""
    with pytest.raises(CoworkError, match="no checksum") as failed:
        describe(WANTED, client, publisher.address)
    assert failed.value.code == "no_checksum"


def test_a_hub_without_the_model(publisher: Publisher, client: httpx.Client) -> None:
    with pytest.raises(NotFound, match="404"):
        describe(CATALOGUE[1], client, publisher.address)


def test_a_hub_that_cannot_be_reached_says_how_to_name_another(client: httpx.Client) -> None:
    with socket.socket() as deaf:  # bound, so that nobody else is there; but it does not listen
        deaf.bind(("127.0.0.1", 0))
        with pytest.raises(Unavailable, match="HF_ENDPOINT"):
            describe(WANTED, client, f"http://127.0.0.1:{deaf.getsockname()[1]}")


def test_something_else_that_answers(
    publisher: Publisher, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publisher, "listing", lambda: {"welcome": "to the hotel's network"})
    with pytest.raises(Unavailable, match="not answer like a model hub"):
        describe(WANTED, client, publisher.address)


MIDDLE = len(CONTENT) // 2


class Download:
    """One file that is wanted, and what became of it."""

    def __init__(self, publisher: Publisher, client: httpx.Client, folder: Path) -> None:
        self.described = describe(WANTED, client, publisher.address)
        self.target = folder / "models" / WANTED.file
        self.part = part_of(self.target, self.described.sha256)
        self.told: list[Progress] = []
        self.waits: list[float] = []
        self._client = client

    def run(self, described: PublishedFile | None = None) -> None:
        described = described or self.described
        wait = self.waits.append
        download(described, self.target, self._client, self.told.append, wait=wait)

    def arrived(self) -> bool:
        return self.target.read_bytes() == CONTENT and not self.part.exists()


@pytest.fixture
def wanted(publisher: Publisher, client: httpx.Client, tmp_path: Path) -> Download:
    return Download(publisher, client, tmp_path)


def test_it_arrives_with_progress_and_is_checked(wanted: Download) -> None:
    wanted.run()
    assert wanted.arrived()
    coming = [one.done for one in wanted.told if not one.checking]
    assert coming == sorted(coming)
    assert len(coming) > 2
    assert wanted.told[-1] == Progress(len(CONTENT), len(CONTENT), checking=True)


def test_a_cut_connection_goes_on_where_it_was(wanted: Download, publisher: Publisher) -> None:
    publisher.cuts = [MIDDLE, 1000]
    wanted.run()
    assert wanted.arrived()
    assert publisher.asked == ["", f"bytes={MIDDLE}-", f"bytes={MIDDLE + 1000}-"]
    assert wanted.waits == []


def test_a_later_run_goes_on_where_an_earlier_one_was_interrupted(
    wanted: Download, publisher: Publisher, client: httpx.Client
) -> None:
    def interrupt(progress: Progress) -> None:
        if progress.done >= MIDDLE:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        download(wanted.described, wanted.target, client, interrupt)
    assert not wanted.target.exists()
    kept = wanted.part.stat().st_size
    assert kept >= MIDDLE
    wanted.run()
    assert wanted.arrived()
    assert publisher.asked == ["", f"bytes={kept}-"]


def test_a_server_that_cannot_continue_is_asked_for_everything(
    wanted: Download, publisher: Publisher
) -> None:
    publisher.ranges = False
    publisher.cuts = [MIDDLE]
    wanted.run()
    assert wanted.arrived()


def test_a_connection_that_always_breaks_is_given_up_and_what_came_is_kept(
    wanted: Download, publisher: Publisher
) -> None:
    publisher.cuts = [MIDDLE] + [0] * MAX_FRUITLESS
    with pytest.raises(
        Unavailable, match=r"50% is downloaded and kept; run the same command"
    ) as failed:
        wanted.run()
    assert failed.value.code == "download_interrupted"
    assert wanted.part.read_bytes() == CONTENT[:MIDDLE]
    assert wanted.waits == sorted(wanted.waits)
    assert len(wanted.waits) == MAX_FRUITLESS - 1
    wanted.run()
    assert wanted.arrived()


def test_a_server_in_trouble_is_asked_again(wanted: Download, publisher: Publisher) -> None:
    publisher.statuses = [503, 429]
    wanted.run()
    assert wanted.arrived()
    assert len(wanted.waits) == 2


def test_a_server_that_stays_in_trouble(wanted: Download, publisher: Publisher) -> None:
    publisher.statuses = [503] * MAX_FRUITLESS
    with pytest.raises(Unavailable, match=r"HTTP 503.*0% is downloaded"):
        wanted.run()


@pytest.mark.parametrize(("status", "error"), [(404, NotFound), (403, CoworkError)])
def test_a_file_that_is_not_given_out(
    wanted: Download, publisher: Publisher, status: int, error: type[CoworkError]
) -> None:
    publisher.statuses = [status]
    with pytest.raises(error, match=str(status)):
        wanted.run()
    assert not wanted.target.exists()


def test_what_does_not_fit_the_checksum_is_thrown_away(
    wanted: Download, publisher: Publisher
) -> None:
    publisher.content = b"evil" + CONTENT[4:]
    with pytest.raises(CoworkError, match="SHA-256") as failed:
        wanted.run()
    assert failed.value.code == "checksum_mismatch"
    assert not wanted.target.exists()
    publisher.content = CONTENT
    wanted.run()
    assert wanted.arrived()


def test_more_than_was_published_is_not_taken(wanted: Download, publisher: Publisher) -> None:
    publisher.content = CONTENT + bytes(10)
    with pytest.raises(CoworkError, match="not what was published"):
        wanted.run()
    assert not wanted.target.exists()


def test_a_part_that_the_server_finds_too_long_is_begun_anew(
    wanted: Download, publisher: Publisher
) -> None:
    wanted.part.parent.mkdir()
    wanted.part.write_bytes(CONTENT[:MIDDLE])
    publisher.statuses = [416]
    wanted.run()
    assert wanted.arrived()
    assert publisher.asked == [f"bytes={MIDDLE}-", ""]


def test_a_file_that_was_published_anew_begins_anew(wanted: Download, publisher: Publisher) -> None:
    wanted.part.parent.mkdir()
    wanted.part.write_bytes(CONTENT[:MIDDLE])
    publisher.content = bytes(len(CONTENT))
    anew = replace(wanted.described, sha256=hashlib.sha256(publisher.content).hexdigest())
    wanted.run(anew)
    assert wanted.target.read_bytes() == publisher.content
    assert publisher.asked == [""]


def test_a_file_that_is_here_is_not_fetched(wanted: Download, publisher: Publisher) -> None:
    wanted.target.parent.mkdir()
    wanted.target.write_bytes(CONTENT)
    wanted.run()
    assert wanted.arrived()
    assert publisher.asked == []


def test_too_little_room_is_said_before_anything_is_fetched(
    wanted: Download, publisher: Publisher
) -> None:
    with pytest.raises(CoworkError, match=r"Not enough space.*needs 900000000\.0 GB") as failed:
        wanted.run(replace(wanted.described, size=900_000_000 * 10**9))
    assert failed.value.code == "disk_full"
    assert publisher.asked == []


def test_a_disk_that_fills_up_on_the_way_says_so(
    wanted: Download, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module, "_ask", full)
    with pytest.raises(CoworkError, match="Not enough space"):
        wanted.run()


def test_a_folder_that_cannot_be_made_says_so(wanted: Download) -> None:
    wanted.target.parent.write_text("a file")
    with pytest.raises(CoworkError, match="Cannot store"):
        wanted.run()


def test_two_processes_do_not_write_the_same_part(wanted: Download, publisher: Publisher) -> None:
    wanted.part.parent.mkdir()
    with wanted.part.open("wb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(Conflict, match="already"):
            wanted.run()
    assert publisher.asked == []
    wanted.run()
    assert wanted.arrived()
