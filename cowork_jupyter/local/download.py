"""Brings a published file here, whole or not at all.

What has arrived is kept in a part beside the target, under the checksum of what it is a part
of: whenever the download goes on, after a cut connection or days later, it goes on with the same
file, and a file that was published anew begins anew. Only what fits the checksum gets the
target's name.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import httpx

from ..domain.errors import Conflict, CoworkError, Unavailable
from .hub import Published, refused

if sys.platform != "win32":
    import fcntl

_PIECE = 1 << 20
FRUITLESS = 5
"""Attempts in a row that bring nothing new, after which we give up."""


@dataclass(frozen=True)
class Progress:
    """How far it is."""

    done: int
    total: int
    checking: bool = False
    """Whether everything is here, and its checksum is being computed."""


def part_of(target: Path, sha256: str) -> Path:
    """Where what has arrived so far is kept."""
    return target.with_name(f"{target.name}.{sha256[:12]}.part")


def download(
    wanted: Published,
    target: Path,
    client: httpx.Client,
    tell: Callable[[Progress], None],
    *,
    wait: Callable[[float], None] = time.sleep,
) -> None:
    """Download to the target. Raises `CoworkError`; what has arrived stays for the next time."""
    with _explained(wanted, target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with _open_part(target, wanted) as file:
            if target.exists():  # somebody else has just finished it
                part_of(target, wanted.sha256).unlink(missing_ok=True)
                return
            _check_room(wanted, target, _length(file))
            _fill(file, wanted, client, tell, wait)
            _check(file, wanted, tell)
            os.fsync(file.fileno())
        part_of(target, wanted.sha256).replace(target)


def _fill(
    file: IO[bytes],
    wanted: Published,
    client: httpx.Client,
    tell: Callable[[Progress], None],
    wait: Callable[[float], None],
) -> None:
    """Ask until everything is here."""
    furthest, fruitless = _length(file), 0
    while _length(file) < wanted.size:
        try:
            _ask(file, wanted, client, tell)
        except (httpx.TransportError, Unavailable) as error:
            failure: Exception = error
        else:
            # Not every way of cutting a connection short is noticed as an error.
            failure = httpx.RemoteProtocolError("the connection was closed early")
        if _length(file) > furthest:
            furthest, fruitless = _length(file), 0
            continue
        fruitless += 1
        if fruitless == FRUITLESS:
            raise _gave_up(furthest, wanted, failure)
        wait(min(2.0**fruitless, 30.0))


def _ask(
    file: IO[bytes],
    wanted: Published,
    client: httpx.Client,
    tell: Callable[[Progress], None],
) -> None:
    """One request for all that is missing."""
    have = _length(file)
    headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={have}-"} if have else {})}
    with client.stream("GET", wanted.address, headers=headers) as answer:
        if answer.status_code == 416 or (answer.status_code == 200 and have):
            file.truncate(have := 0)  # it cannot continue: from the beginning, then
        if answer.status_code == 416:
            return
        if answer.status_code not in (200, 206):
            raise refused(answer, "the file")
        file.seek(have)
        for piece in answer.iter_raw():
            have += len(piece)
            if have > wanted.size:
                raise _damaged(file)
            file.write(piece)
            tell(Progress(have, wanted.size))
        file.flush()


def _check(file: IO[bytes], wanted: Published, tell: Callable[[Progress], None]) -> None:
    """Hold what is here against the publisher's checksum."""
    digest, done = hashlib.sha256(), 0
    file.seek(0)
    while piece := file.read(_PIECE):
        digest.update(piece)
        done += len(piece)
        tell(Progress(done, wanted.size, checking=True))
    if digest.hexdigest() != wanted.sha256:
        raise _damaged(file)


def _damaged(file: IO[bytes]) -> CoworkError:
    file.truncate(0)
    return CoworkError(
        "The downloaded file is not what was published: its SHA-256 differs from the publisher's. "
        "It was deleted. Try again; if it happens again, something on the way changes the file.",
        code="checksum_mismatch",
    )


def _gave_up(done: int, wanted: Published, failure: Exception) -> CoworkError:
    if isinstance(failure, Unavailable):
        why = failure.message
    else:
        why = f"The connection was lost ({failure})."
    kept = f"{done / wanted.size:.0%} is downloaded and kept; run the same command to resume."
    return Unavailable(f"{why} {kept}", code="download_interrupted")


def _check_room(wanted: Published, target: Path, have: int) -> None:
    if shutil.disk_usage(target.parent).free < wanted.size - have:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@contextlib.contextmanager
def _explained(wanted: Published, target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            why = (
                f"Not enough space in {target.parent}: the file needs {wanted.size / 1e9:.1f} GB. "
                "Free some space and run the same command to resume."
            )
            raise CoworkError(why, code="disk_full") from error
        why = f"Cannot store the file in {target.parent}: {error.strerror or error}."
        raise CoworkError(why, code="not_writable") from error


def _length(file: IO[bytes]) -> int:
    return file.seek(0, os.SEEK_END)


@contextlib.contextmanager
def _open_part(target: Path, wanted: Published) -> Iterator[IO[bytes]]:
    """The part, for reading and writing, and for one process at a time."""
    part = part_of(target, wanted.sha256)
    part.touch()
    with part.open("r+b") as file:
        _lock(file)
        yield file


def _lock(file: IO[bytes]) -> None:
    if sys.platform == "win32":
        return  # there, nobody else could give it its name while we have it open
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Conflict("Another process is already downloading it.") from None
    except OSError:
        return  # a file system without locks
