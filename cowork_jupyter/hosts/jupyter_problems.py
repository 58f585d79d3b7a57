"""Problems of the Jupyter around us: an old JupyterLab, a port in use."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from ..domain.health import Problem

OLDEST_LAB = (4, 4)


def lab_problems() -> Iterator[Problem]:
    installed = _installed_lab()
    if installed is None:
        return  # fine: a server or kernel works without Lab
    if tuple(int(part) for part in installed.split(".")[:2] if part.isdigit()) < OLDEST_LAB:
        wanted = ".".join(map(str, OLDEST_LAB))
        yield Problem(
            code="jupyterlab_too_old",
            message=f"JupyterLab {installed} is too old for the Cowork panel and cards. "
            f'Run: pip install --upgrade "jupyterlab>={wanted}"',
        )


@cache
def _installed_lab() -> str | None:
    """Cached: the lookup takes a millisecond, and a running Lab does not change its version."""
    try:
        return version("jupyterlab")
    except PackageNotFoundError:
        return None


def moved_port_problems(wanted: int, actual: int) -> Iterator[Problem]:
    """Port 0 asks for any port."""
    if wanted not in (0, actual):
        yield Problem(
            code="port_taken",
            message=f"Port {wanted} was in use, so this server listens on {actual}. "
            f"To use {wanted} again: jupyter server stop {wanted}, then restart.",
        )


def taken_port_problems(port: int) -> Iterator[Problem]:
    """Report a port that the next Jupyter server would want but cannot bind."""
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
