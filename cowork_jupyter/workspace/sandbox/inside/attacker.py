"""Runs confined, by itself; prints the guarantees that it could break."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

GIVEN = json.loads(sys.argv[1])


def write(path: str) -> None:
    with Path(path).open("a") as file:
        file.write("x")


def read_any(paths: list[str]) -> None:
    for path in paths:
        try:
            with Path(path).open("rb") as file:
                file.read(1)
        except OSError:
            continue
        return
    raise PermissionError


def inspect() -> None:
    """Another process may have that number here."""
    environments = (Path(f"/proc/{pid}/environ") for pid in (GIVEN["server"], os.getpid()))
    if len({path.read_bytes() for path in environments}) == 1:
        raise PermissionError


def limit() -> None:
    if GIVEN["server"] == os.getpid():
        raise PermissionError
    kind = resource.RLIMIT_CORE
    resource.prlimit(GIVEN["server"], kind, resource.prlimit(GIVEN["server"], kind))


def connect(family: int, address: object) -> None:
    with socket.socket(family) as made:
        made.settimeout(3)
        made.connect(address)  # type: ignore[arg-type]


def unlimited(kind: int) -> None:
    if resource.getrlimit(kind)[0] != resource.RLIM_INFINITY:
        raise PermissionError


def leave_behind() -> None:
    Path(GIVEN["workspace"], ".vscode").mkdir()
    write(f"{GIVEN['workspace']}/alive")  # the child may be ended before its first
    if os.fork() == 0:
        os.setsid()
        while True:
            write(f"{GIVEN['workspace']}/alive")
            time.sleep(0.02)


ATTEMPTS: list[tuple[str, Callable[[], object]]] = [
    ("outside", lambda: write(GIVEN["outside"])),
    ("home", lambda: read_any(GIVEN["at_home"])),
    ("secrets", lambda: read_any(GIVEN["secrets"])),
    ("inspects", inspect),
    ("inspects", limit),
    ("signals", lambda: os.kill(GIVEN["server"], 0)),
    ("network", lambda: connect(socket.AF_INET, ("127.0.0.1", GIVEN["port"]))),
    ("sockets", lambda: connect(socket.AF_UNIX, GIVEN["local_socket"])),
    ("memory", lambda: unlimited(resource.RLIMIT_FSIZE)),
    ("processes", lambda: unlimited(resource.RLIMIT_NPROC)),
    ("read_only", lambda: write(f"{GIVEN['workspace']}/.envrc")),
]
OF_TESTER = ("tester", lambda: write(f"{GIVEN['workspace']}/file"))


def main() -> None:
    if GIVEN["may_write"]:
        leave_behind()
    broken = set()
    for name, attempt in ATTEMPTS if GIVEN["may_write"] else [*ATTEMPTS, OF_TESTER]:
        with contextlib.suppress(OSError, ValueError):
            attempt()
            broken.add(name)
    sys.stdout.write(f"{json.dumps(sorted(broken))}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
