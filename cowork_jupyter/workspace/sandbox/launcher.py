"""Client of the launcher process: start it once, send it commands, follow each command."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...domain.errors import Unavailable
from .confine import CommandSpec, Descriptors, Namespaces

# The folder is imported as a package of its own. As part of ours it would load all of ours, and
# each fork of the launcher process would take three times as long.
_PROGRAM = """
import sys, types
package = sys.modules["cowork_sandbox"] = types.ModuleType("cowork_sandbox")
package.__path__ = [{folder!r}]
from cowork_sandbox.launcher_process import main
main({descriptor})
"""


class Launcher:
    """The one launcher process of this process, started lazily and stopped at exit."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._namespaces: Namespaces = ""
        self._watches_sockets = False
        atexit.register(self.close)

    def probe(self) -> tuple[Namespaces, bool]:
        """Which namespaces commands can have here, and whether their sockets can be watched."""
        with self._lock, _explain_errors():
            self._ensure()
            return self._namespaces, self._watches_sockets

    def send(self, spec: CommandSpec, held: Descriptors) -> socket.socket:
        """Request a command; returns the socket on which its guard reports."""
        with self._lock, _explain_errors():
            try:
                return self._send(spec, held)
            except OSError:  # it was killed: start another
                self._stop()
                return self._send(spec, held)

    def close(self) -> None:
        """Stop it. Commands that still run are killed by their guards once our sockets close."""
        with self._lock:
            self._stop()

    def _send(self, spec: CommandSpec, held: Descriptors) -> socket.socket:
        launcher = self._ensure()
        ours, its = socket.socketpair()
        text = os.memfd_create("cowork-spec", os.MFD_CLOEXEC)
        try:
            with os.fdopen(os.dup(text), "wb") as file:
                file.write(spec.to_json())
            socket.send_fds(launcher, [b"."], [text, its.fileno(), *held.sent()])
        except BaseException:
            ours.close()
            raise
        finally:
            its.close()
            os.close(text)
        return ours

    def _ensure(self) -> socket.socket:
        if self._socket is None:
            self._socket, its = socket.socketpair()
            folder = str(Path(__file__).parent)
            with its:
                program = _PROGRAM.format(folder=folder, descriptor=its.fileno())
                self._process = subprocess.Popen(  # noqa: S603 - our own Python and module
                    [sys.executable, "-I", "-S", "-X", "utf8", "-c", program],
                    pass_fds=[its.fileno()],
                    stdin=subprocess.DEVNULL,
                    cwd="/",
                    # Not ours: it may hold secrets, and commands might get hold of it.
                    env={"PATH": os.defpath},
                )
            hello = self._socket.recv(1000)
            if not hello:
                self._stop()
                raise OSError("it did not start")
            abilities = json.loads(hello)
            self._namespaces = abilities["namespaces"]
            self._watches_sockets = abilities["watches_sockets"]
        return self._socket

    def _stop(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._process is not None:
            self._process.wait()
            self._process = None


@contextmanager
def _explain_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Unavailable(
            f"Cannot reach the process that starts commands: {error}.", code="sandbox_failed"
        ) from error


class ConfinedCommand:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self.pid = -1
        self.returncode: int | None = None

    @classmethod
    async def start(
        cls, launcher: Launcher, spec: CommandSpec, held: Descriptors
    ) -> ConfinedCommand:
        """Start it, or raise; it never runs less confined than requested."""
        answer = launcher.send(spec, held)
        command = cls(*await asyncio.open_unix_connection(sock=answer))
        try:
            first = await command._next()
        except BaseException:
            await command.end()
            raise
        if "pid" not in first:
            await command.end()
            why = first.get("error", "its guard ended")
            raise Unavailable(
                f"The command could not be sandboxed, so it did not run: {why}.",
                code="sandbox_failed",
            )
        command.pid = first["pid"]
        return command

    async def wait(self) -> int | None:
        """Exit code, or the negative signal number."""
        if self.returncode is None:
            self.returncode = (await self._next()).get("status", -9)
        return self.returncode

    async def end(self) -> None:
        """Kill it and all it has left behind; returns when nothing is left."""
        with contextlib.suppress(OSError):
            self._writer.write_eof()
        try:
            while line := await self._reader.readline():
                status = json.loads(line).get("status")
                self.returncode = status if self.returncode is None else self.returncode
        finally:
            # On cancellation, closing tells the guard all the same.
            self._writer.close()

    async def _next(self) -> dict[str, int]:
        line = await self._reader.readline()
        return json.loads(line) if line else {}
