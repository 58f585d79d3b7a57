"""Resumable downloads from a model hub, verified against the publisher's SHA-256.

Partial data lives in a `.part` file named after the checksum, so a later run resumes the same
file, and a republished file starts over. Only verified data gets the target's name. Size and
checksum come over TLS from the hub's listing; the file itself may come from any mirror.

`huggingface_hub` (2.4) cannot replace this: it deletes the partial file when a download fails, and
gives the file its name without checking the SHA-256.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

import httpx

if sys.platform != "win32":
    import fcntl


from ...domain.errors import Conflict, CoworkError, NotFound, Unavailable
from .model_dir import Recommended

DEFAULT_HUB = "https://huggingface.co"
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class PublishedFile:
    address: str
    size: int
    sha256: str


def describe(wanted: Recommended, client: httpx.Client, hub: str = DEFAULT_HUB) -> PublishedFile:
    hub = hub.rstrip("/")
    listing = _listing(f"{hub}/api/models/{wanted.repository}/tree/main", client)
    entry = next((item for item in listing if item.get("path") == wanted.file), None)
    if entry is None:
        raise NotFound(f"{hub}/{wanted.repository} no longer has {wanted.file}.")
    stored = entry.get("lfs") or {}
    size, sha256 = stored.get("size"), str(stored.get("oid", "")).removeprefix("sha256:")
    if not isinstance(size, int) or not _SHA256.fullmatch(sha256):
        raise CoworkError(
            f"{hub} gives no checksum for {wanted.file}, so it is impossible to tell whether "
            "the download is intact. Nothing was downloaded.",
            code="no_checksum",
        )
    return PublishedFile(
        f"{hub}/{wanted.repository}/resolve/main/{quote(wanted.file)}", size=size, sha256=sha256
    )


def http_failure(answer: httpx.Response, what: str) -> CoworkError:
    host, status = answer.url.host, answer.status_code
    if status == 404:
        return NotFound(f"{host} does not have {what} (404).")
    if status in (401, 403):
        return CoworkError(f"{host} refuses to send {what} ({status}).", code="refused")
    return Unavailable(f"{host} reports an internal error (HTTP {status}). Try again later.")


def _listing(address: str, client: httpx.Client) -> list[dict[str, Any]]:
    try:
        answer = client.get(address)
    except httpx.HTTPError as error:
        raise Unavailable(
            f"Cannot reach the hub at {httpx.URL(address).host} ({type(error).__name__}). "
            "Check the network, or set HF_ENDPOINT to another hub."
        ) from error
    if answer.status_code != 200:
        raise http_failure(answer, "this model")
    try:
        listing = answer.json()
    except ValueError:
        listing = None
    if not isinstance(listing, list):
        raise Unavailable(f"{answer.url.host} does not answer like a model hub.")
    return [entry for entry in listing if isinstance(entry, dict)]


_PIECE = 1 << 20
MAX_FRUITLESS = 5
"""Give up after this many attempts in a row without new data."""


@dataclass(frozen=True)
class Progress:
    done: int
    total: int
    checking: bool = False
    """Everything has arrived and the checksum is being computed."""


def part_of(target: Path, sha256: str) -> Path:
    return target.with_name(f"{target.name}.{sha256[:12]}.part")


def download(
    wanted: PublishedFile,
    target: Path,
    client: httpx.Client,
    tell: Callable[[Progress], None],
    *,
    wait: Callable[[float], None] = time.sleep,
) -> None:
    """Download to the target. Raises `CoworkError`; what has arrived stays for the next time."""
    with _storage_errors(wanted, target):
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
    wanted: PublishedFile,
    client: httpx.Client,
    tell: Callable[[Progress], None],
    wait: Callable[[float], None],
) -> None:
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
        if fruitless == MAX_FRUITLESS:
            raise _gave_up(furthest, wanted, failure)
        wait(min(2.0**fruitless, 30.0))


def _ask(
    file: IO[bytes], wanted: PublishedFile, client: httpx.Client, tell: Callable[[Progress], None]
) -> None:
    have = _length(file)
    headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={have}-"} if have else {})}
    with client.stream("GET", wanted.address, headers=headers) as answer:
        if answer.status_code == 416 or (answer.status_code == 200 and have):
            file.truncate(have := 0)  # it cannot continue: from the beginning, then
        if answer.status_code == 416:
            return
        if answer.status_code not in (200, 206):
            raise http_failure(answer, "the file")
        file.seek(have)
        for piece in answer.iter_raw():
            have += len(piece)
            if have > wanted.size:
                raise _damaged(file)
            file.write(piece)
            tell(Progress(have, wanted.size))
        file.flush()


def _check(file: IO[bytes], wanted: PublishedFile, tell: Callable[[Progress], None]) -> None:
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


def _gave_up(done: int, wanted: PublishedFile, failure: Exception) -> CoworkError:
    if isinstance(failure, Unavailable):
        why = failure.message
    else:
        why = f"The connection was lost ({failure})."
    kept = f"{done / wanted.size:.0%} is downloaded and kept; run the same command to resume."
    return Unavailable(f"{why} {kept}", code="download_interrupted")


def _check_room(wanted: PublishedFile, target: Path, have: int) -> None:
    if shutil.disk_usage(target.parent).free < wanted.size - have:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@contextlib.contextmanager
def _storage_errors(wanted: PublishedFile, target: Path) -> Iterator[None]:
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
def _open_part(target: Path, wanted: PublishedFile) -> Iterator[IO[bytes]]:
    """Open the part under an exclusive lock; raises Conflict if another process holds it."""
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
