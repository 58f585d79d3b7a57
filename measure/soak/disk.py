"""A disk that can be filled: a small one of its own where we may mount, else a limit on files."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MEGABYTES = 512
CHUNK = 64 * 1024


class SmallDisk:
    """A tmpfs over the folder."""

    kind = "a tmpfs"

    def __init__(self, folder: Path) -> None:
        self._ballast = folder / "ballast"

    @contextmanager
    def full(self, _process_id: int) -> Iterator[None]:
        """Nothing more can be written while this lasts."""
        try:
            with self._ballast.open("wb", buffering=0) as file, suppress(OSError):
                free = os.statvfs(self._ballast).f_bavail * os.statvfs(self._ballast).f_frsize
                os.posix_fallocate(file.fileno(), 0, max(1, free - CHUNK))
                file.seek(0, os.SEEK_END)
                while True:
                    file.write(bytes(4096))
            yield
        finally:
            self._ballast.unlink(missing_ok=True)


class LimitedFiles:
    """No file of the server can grow, which to a program is the same."""

    kind = "a limit on the size of files (no right to mount here)"

    @contextmanager
    def full(self, process_id: int) -> Iterator[None]:
        before = resource.prlimit(process_id, resource.RLIMIT_FSIZE)
        resource.prlimit(process_id, resource.RLIMIT_FSIZE, (4096, before[1]))
        try:
            yield
        finally:
            with suppress(ProcessLookupError):
                resource.prlimit(process_id, resource.RLIMIT_FSIZE, before)


Disk = SmallDisk | LimitedFiles


@contextmanager
def small_disk(folder: Path) -> Iterator[Disk]:
    """`with small_disk(folder) as disk, disk.full(pid):`"""
    folder.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m,mode=700", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        yield LimitedFiles()
        return
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=False)
