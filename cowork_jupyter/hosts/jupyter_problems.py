"""Problems in what surrounds us under Jupyter: the Lab beside us, the port below us."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from ..domain.health import Problem

OLDEST_LAB = (4, 4)


def lab_problems() -> Iterator[Problem]:
    """A JupyterLab that cannot load our panel."""
    found = _installed_lab()
    if found is None:
        return  # a bare server or kernel is a fine host too
    if tuple(int(part) for part in found.split(".")[:2] if part.isdigit()) < OLDEST_LAB:
        wanted = ".".join(map(str, OLDEST_LAB))
        yield Problem(
            code="jupyterlab_too_old",
            message=f"JupyterLab {found} is too old for the Cowork panel and cards. "
            f'Run: pip install --upgrade "jupyterlab>={wanted}"',
        )


@cache
def _installed_lab() -> str | None:
    """Looked up once: it takes a millisecond, and a running Lab does not change its version."""
    try:
        return version("jupyterlab")
    except PackageNotFoundError:
        return None


def moved_port_problems(wanted: int, actual: int) -> Iterator[Problem]:
    """The server runs, but not on the port that was asked for (0 asks for any)."""
    if wanted not in (0, actual):
        yield Problem(
            code="port_taken",
            message=f"Port {wanted} was in use, so this server listens on {actual}. "
            f"To use {wanted} again: jupyter server stop {wanted}, then restart.",
        )


def taken_port_problems(port: int) -> Iterator[Problem]:
    """Somebody listens on the port that the next Jupyter server would want."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            yield Problem(
                code="port_taken",
                message=f"Port {port} is in use. Stop what runs there (a Jupyter server: "
                f"jupyter server stop {port}), or start with: jupyter lab --port {port + 1}",
            )
