"""Watches calls of a command: it reaches its own sockets and processes and no other program's.

A seccomp filter cannot look at the path given to `connect`. So the kernel suspends each `connect`
and asks the guard, which makes the connection itself: overwriting the path or swapping the socket
meanwhile makes no difference. A path is reached only if the command itself listens on that socket.

Nor can a filter know which process ids are the command's own: the guard knows, as the ancestor of
them all.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import socket
import struct
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, NoReturn

from .refused_calls import calls_about_processes
from .seccomp import connect_number, filter_program, install_watched_filter
from .syscalls import (
    MACHINE,
    OPENAT2,
    PIDFD_GETFD,
    PIDFD_OPEN,
    PR_SET_NO_NEW_PRIVS,
    connect,
    prctl,
    system_call,
)

if sys.platform == "linux":
    from fcntl import ioctl

_NOTICE = struct.Struct("QIIiIQ6Q")
_ANSWER = struct.Struct("QqiI")
_RECEIVE = 3 << 30 | _NOTICE.size << 16 | ord("!") << 8
_SEND = 3 << 30 | _ANSWER.size << 16 | ord("!") << 8 | 1
_IS_VALID = 1 << 30 | 8 << 16 | ord("!") << 8 | 2
_GO_ON = 1
_IN_ROOT = 0x10
_MAX_ADDRESS_LENGTH = 128
_ABOUT_PROCESSES = calls_about_processes(MACHINE)
_DIAGNOSIS, _BY_FAMILY, _OF_FILE, _FILE, _ANY = 4, 20, 2, 1, 0xFFFFFFFF

ALONE = b"alone"
"""Sent to the guard with the descriptors: nobody else is in the command's network."""

Place = tuple[int, int]
"""Device and inode of a socket's file."""


class _Call(NamedTuple):
    id: int
    thread: int
    descriptor: int
    address: int
    length: int


class WatchedCalls:
    """Answers the calls of one command; connecting may block, so each has a thread for it."""

    def __init__(self, calls: int, diagnosis: int, *, alone: bool) -> None:
        """`diagnosis` is a sock_diag socket of the command's network namespace.

        `alone` says that nobody else is in that namespace: then all abstract names in it are its
        own.
        """
        self.calls = calls
        self.diagnosis = socket.socket(fileno=diagnosis)
        self._asking = threading.Lock()
        self._alone = alone
        self._listening = set[int]()
        self._names = set[bytes]()

    def answer_next(self) -> None:
        """Handle the next call; one that is gone by now needs no answer."""
        with contextlib.suppress(OSError):
            raw = bytearray(_NOTICE.size)
            ioctl(self.calls, _RECEIVE, raw)
            notice, thread, _, number, _, _, *arguments = _NOTICE.unpack(raw)
            call = _Call(notice, thread, *arguments[:3])
            if number == connect_number():
                threading.Thread(target=self._connect, args=[call], daemon=True).start()
            elif number in _ABOUT_PROCESSES:
                self._reach(call, arguments[_ABOUT_PROCESSES[number]] & 0xFFFFFFFF)
            else:
                self._listen(call)

    def _reach(self, call: _Call, process: int) -> None:
        """Only numbers are passed, which nobody can swap while the kernel goes on."""
        if _is_below_us(process):
            self._say(call, go_on=True)
        else:
            self._say(call, error=errno.EPERM)

    def _listen(self, call: _Call) -> None:
        """Remember the socket; the command cannot hold one of another program."""
        with contextlib.suppress(OSError), self._taken(call) as held:
            if held.family == socket.AF_UNIX:
                self._listening.add(os.fstat(held.fileno()).st_ino)
                name = held.getsockname()
                if isinstance(name, bytes):
                    self._names.add(name)
        self._say(call, go_on=True)

    def _connect(self, call: _Call) -> None:
        # Signals go to the main thread.
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            with self._taken(call) as held:
                address = self._address(call)
                if held.family != socket.AF_UNIX:
                    connect(held.fileno(), address)
                else:
                    self._connect_unix(call, held, address)
        except OSError as error:
            self._say(call, error=error.errno or errno.EACCES)
        except BaseException:
            self._say(call, error=errno.EACCES)
        else:
            self._say(call)

    def _connect_unix(self, call: _Call, held: socket.socket, address: bytes) -> None:
        name = address[2:]
        if name.startswith(b"\0"):
            if not self._alone and name not in self._names:
                raise OSError(errno.EACCES, "not a socket of the command")
            connect(held.fileno(), address)
            return
        found = _opened(call.thread, name.split(b"\0")[0])
        try:
            status = os.fstat(found)
            if (status.st_dev, status.st_ino) not in self._own_places():
                raise OSError(errno.EACCES, "not a socket of the command")
            path = f"/proc/self/fd/{found}".encode()
            connect(held.fileno(), struct.pack("H", socket.AF_UNIX) + path + b"\0")
        finally:
            os.close(found)

    def _own_places(self) -> set[Place]:
        """Where the command listens now. Queried each time: inodes are reused."""
        with self._asking:
            found = {number: place_of(self.diagnosis, number) for number in self._listening}
            self._listening = {number for number, place in found.items() if place}
        return {place for place in found.values() if place}

    @contextmanager
    def _taken(self, call: _Call) -> Iterator[socket.socket]:
        process = system_call(PIDFD_OPEN, _process_of(call.thread), 0)
        try:
            held = socket.socket(fileno=system_call(PIDFD_GETFD, process, call.descriptor, 0))
        finally:
            os.close(process)
        with held:
            yield held

    def _address(self, call: _Call) -> bytes:
        """The address to connect to, read once from the command's memory."""
        memory = os.open(f"/proc/{call.thread}/mem", os.O_RDONLY | os.O_CLOEXEC)
        try:
            ioctl(self.calls, _IS_VALID, struct.pack("Q", call.id))  # the pid is not reused yet
            length = min(call.length, _MAX_ADDRESS_LENGTH)
            return os.pread(memory, length, call.address)
        finally:
            os.close(memory)

    def _say(self, call: _Call, *, error: int = 0, go_on: bool = False) -> None:
        with contextlib.suppress(OSError):  # the command is gone
            answer = _ANSWER.pack(call.id, 0, -error, _GO_ON if go_on else 0)
            ioctl(self.calls, _SEND, bytearray(answer))


def watch(program: bytes, guard: socket.socket, *, alone: bool) -> None:
    """Install a filter that asks about sockets, and hand the guard what it answers with."""
    diagnosis = socket.SOCK_RAW | socket.SOCK_CLOEXEC
    with socket.socket(socket.AF_NETLINK, diagnosis, _DIAGNOSIS) as asking:
        calls = install_watched_filter(program)
        socket.send_fds(guard, [ALONE if alone else b"-"], [calls, asking.fileno()])


def place_of(diagnosis: socket.socket, number: int) -> Place | None:
    """Where a socket's file is, according to the kernel; a name can be moved."""
    facts, at = _known(diagnosis, number), 16
    while at + 12 <= len(facts):
        length, kind = struct.unpack_from("HH", facts, at)
        if kind == _FILE:
            inode, device = struct.unpack_from("II", facts, at + 4)
            return os.makedev(device >> 20, device & 0xFFFFF), inode
        at += max(length + 3 & ~3, 4)
    return None


def _known(diagnosis: socket.socket, number: int) -> bytes:
    """What the kernel knows of a local socket; empty if it is gone."""
    wanted = struct.pack("BBHIIIII", socket.AF_UNIX, 0, 0, _ANY, number, _OF_FILE, _ANY, _ANY)
    diagnosis.send(struct.pack("IHHII", 16 + len(wanted), _BY_FAMILY, 1, 1, 0) + wanted)
    answer = diagnosis.recv(4096)
    return answer[16:] if struct.unpack_from("H", answer, 4)[0] == _BY_FAMILY else b""


def _process_of(thread: int) -> int:
    return _status(thread, "Tgid:")


def _is_below_us(process: int) -> bool:
    """Whether we are an ancestor of this process, or of the one that this thread belongs to."""
    above = process
    with contextlib.suppress(OSError):
        while above > 1:
            above = _status(above, "PPid:")
            if above == os.getpid():
                return True
    return False


def _status(thread: int, field: str) -> int:
    for line in Path(f"/proc/{thread}/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1])
    raise ProcessLookupError(thread)


def _opened(thread: int, path: bytes) -> int:
    """Resolve a path as the command would, with its mounts and working directory."""
    is_absolute = path.startswith(b"/")
    start = f"/proc/{thread}/{'root' if is_absolute else 'cwd'}"
    folder = os.open(start, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    how = struct.pack("QQQ", os.O_PATH | os.O_CLOEXEC, 0, _IN_ROOT if is_absolute else 0)
    try:
        return system_call(OPENAT2, folder, path.lstrip(b"/") if is_absolute else path, how, 24)
    finally:
        os.close(folder)


def try_watching() -> None:
    """Have a child listen and connect under watch; raises where the kernel lacks something."""
    ours, its = socket.socketpair()
    child = os.fork()
    if child == 0:
        _try_as_command(its)
    its.close()
    with ours:
        _, held, *_ = socket.recv_fds(ours, 16, 2, socket.MSG_CMSG_CLOEXEC)
        watched = WatchedCalls(*held, alone=False)
        poll = select.poll()
        poll.register(watched.calls, select.POLLIN)
        while poll.poll()[0][1] & select.POLLIN:
            watched.answer_next()
        if not _known(watched.diagnosis, os.fstat(ours.fileno()).st_ino):
            raise OSError("the kernel tells nothing about sockets")
    if os.waitpid(child, 0)[1]:
        raise OSError("a watched socket could not connect")


def _try_as_command(guard: socket.socket) -> NoReturn:
    code = 1
    try:
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        watch(filter_program(None, watched=True), guard, alone=False)
        with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
            server.bind(b"\0cowork-%d" % os.getpid())
            server.listen()
            client.connect(server.getsockname())
            code = 0
    finally:
        os._exit(code)
