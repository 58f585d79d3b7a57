"""Seccomp: what Landlock cannot refuse, which is sockets and calls that reach other programs.

Landlock and namespaces know nothing of calls that name a process by its id or use a name that all
share: without `REFUSED_CALLS`, `prlimit` alone could kill the Jupyter server.
`docs/reference/sandbox.md` has it in words. The filter is hand-assembled BPF that looks at the
syscall number and at most two arguments.

A filter cannot look at the path given to `connect`. So the kernel suspends each `connect` and asks
the guard, which makes the connection itself: overwriting the path or swapping the socket meanwhile
makes no difference. A path is reached only if the command itself listens on that socket. Nor can a
filter know which process ids are the command's own: the guard knows, as the ancestor of them all.
"""

from __future__ import annotations

import contextlib
import ctypes
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
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, NoReturn

from .syscalls import (
    MACHINE,
    OPENAT2,
    PIDFD_GETFD,
    PIDFD_OPEN,
    PR_SET_NO_NEW_PRIVS,
    PR_SET_SECCOMP,
    connect,
    prctl,
    system_call,
)

When = Literal["always", "other_process", "other_owner", "shared_names"]
"""Refused always; for any process but the command's own; the same, and for all processes of a user;
or where the command has no such names of its own (no IPC namespace)."""


@dataclass(frozen=True)
class RefusedCall:
    name: str
    x86_64: int
    aarch64: int
    when: When
    why: str
    user_wide: int = 0
    """The first argument that means all processes of the user, with `other_owner`."""

    def number(self, machine: str) -> int:
        return self.x86_64 if machine == "x86_64" else self.aarch64


_LIMITS = "sets resource limits, which can end or cripple a program"
_SCHEDULING = "changes how a program is scheduled"
_MEMORY = "reads, writes, moves or frees memory of a program"
_FILES = "takes or compares open files of a program"
_WATCHING = "watches other programs or the kernel"
_SHARED = "is shared by all programs of the user"
_KEYS = "reads the kernel's key ring, which holds passwords and tickets"

REFUSED_CALLS = (
    RefusedCall("prlimit64", 302, 261, "other_process", _LIMITS),
    RefusedCall("sched_setaffinity", 203, 122, "other_process", _SCHEDULING),
    RefusedCall("sched_setscheduler", 144, 119, "other_process", _SCHEDULING),
    RefusedCall("sched_setparam", 142, 118, "other_process", _SCHEDULING),
    RefusedCall("sched_setattr", 314, 274, "other_process", _SCHEDULING),
    RefusedCall("setpriority", 141, 140, "other_owner", _SCHEDULING, user_wide=2),
    RefusedCall("ioprio_set", 251, 30, "other_owner", _SCHEDULING, user_wide=3),
    RefusedCall("move_pages", 279, 239, "other_process", _MEMORY),
    RefusedCall("migrate_pages", 256, 238, "other_process", _MEMORY),
    RefusedCall("process_vm_readv", 310, 270, "other_process", _MEMORY),
    RefusedCall("process_vm_writev", 311, 271, "other_process", _MEMORY),
    RefusedCall("process_madvise", 440, 440, "always", _MEMORY),
    RefusedCall("process_mrelease", 448, 448, "always", _MEMORY),
    RefusedCall("kcmp", 312, 272, "always", _FILES),
    RefusedCall("pidfd_getfd", 438, 438, "always", _FILES),
    RefusedCall("pidfd_send_signal", 424, 424, "always", "sends signals"),
    RefusedCall("userfaultfd", 323, 282, "always", "handles page faults, also the kernel's"),
    RefusedCall("perf_event_open", 298, 241, "always", _WATCHING),
    RefusedCall("bpf", 321, 280, "always", _WATCHING),
    RefusedCall("add_key", 248, 217, "always", _KEYS),
    RefusedCall("request_key", 249, 218, "always", _KEYS),
    RefusedCall("keyctl", 250, 219, "always", _KEYS),
    RefusedCall("io_uring_setup", 425, 425, "always", "opens sockets past this filter"),
    RefusedCall("shmget", 29, 194, "shared_names", _SHARED),
    RefusedCall("shmat", 30, 196, "shared_names", _SHARED),
    RefusedCall("shmctl", 31, 195, "shared_names", _SHARED),
    RefusedCall("semget", 64, 190, "shared_names", _SHARED),
    RefusedCall("semop", 65, 193, "shared_names", _SHARED),
    RefusedCall("semtimedop", 220, 192, "shared_names", _SHARED),
    RefusedCall("semctl", 66, 191, "shared_names", _SHARED),
    RefusedCall("msgget", 68, 186, "shared_names", _SHARED),
    RefusedCall("msgsnd", 69, 189, "shared_names", _SHARED),
    RefusedCall("msgrcv", 70, 188, "shared_names", _SHARED),
    RefusedCall("msgctl", 71, 187, "shared_names", _SHARED),
    RefusedCall("mq_open", 240, 180, "shared_names", _SHARED),
    RefusedCall("mq_unlink", 241, 181, "shared_names", _SHARED),
)


_MODE_FILTER = 2
_LOAD, _JUMP_EQUAL, _JUMP_SET, _AND, _RETURN = 0x20, 0x15, 0x45, 0x54, 0x06
_ALLOW, _ERRNO, _ASK = 0x7FFF0000, 0x00050000, 0x7FC00000
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_ARGUMENT_AT, _SECOND_ARGUMENT_AT = 0, 4, 16, 24
_SET_FILTER, _WITH_LISTENER, _WAIT_KILLABLE = 1, 8, 32
_TYPE_OF_SOCKET = 0xF
_X32 = 0x40000000
_Instruction = tuple[int, int, int, int]


@dataclass(frozen=True)
class _Architecture:
    audit: int
    socket: int
    connect: int
    listen: int
    socketpair: int
    seccomp: int


_ARCHITECTURES = {
    "x86_64": _Architecture(0xC000003E, 41, 42, 50, 53, 317),
    "aarch64": _Architecture(0xC00000B7, 198, 203, 201, 199, 277),
}


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def seccomp_works_here(machine: str = MACHINE) -> bool:
    """Whether we know this machine's syscall numbers."""
    return machine in _ARCHITECTURES


def allowed_families(*, internet: bool, unix: bool, others: bool) -> frozenset[int] | None:
    """Socket families that a command may open; None for all."""
    if internet and unix and others:
        return None
    allowed = {socket.AF_NETLINK} if hasattr(socket, "AF_NETLINK") else set()  # lists interfaces
    allowed |= {socket.AF_INET, socket.AF_INET6} if internet else set()
    allowed |= {socket.AF_UNIX} if unix else set()
    return frozenset(map(int, allowed))


def filter_program(
    allowed: frozenset[int] | None,
    machine: str = MACHINE,
    *,
    watched: bool = False,
    own_names: bool = True,
) -> bytes:
    """Refuse what `REFUSED_CALLS` says, and other socket families.

    With `watched`, the filter's listener is asked about each connect and listen, and about calls
    that name a process. `own_names` says that the command has an IPC namespace of its own.
    """
    architecture = _ARCHITECTURES[machine]
    code: list[_Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_JUMP_EQUAL, 1, 0, architecture.audit),
        _refuse(errno.EPERM),  # 32-bit programs use other syscall numbers
        (_LOAD, 0, 0, _NUMBER_AT),
        (_JUMP_SET, 0, 1, _X32),
        _refuse(errno.EPERM),
    ]
    for call in REFUSED_CALLS:
        if call.when != "shared_names" or not own_names:
            code += _refusal(call, machine, watched=watched)
    for number in (architecture.connect, architecture.listen) if watched else ():
        code += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ASK)]
    code += _no_local_datagrams(architecture)
    if allowed is not None:
        code += [
            (_JUMP_EQUAL, 1, 0, architecture.socket),
            (_RETURN, 0, 0, _ALLOW),
            (_LOAD, 0, 0, _FIRST_ARGUMENT_AT),
        ]
        for family in sorted(allowed):
            code += [(_JUMP_EQUAL, 0, 1, family), (_RETURN, 0, 0, _ALLOW)]
        code.append(_refuse(errno.EACCES))
    code.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("HBBI", *instruction) for instruction in code)


def _refusal(call: RefusedCall, machine: str, *, watched: bool) -> list[_Instruction]:
    """The kernel reads only the lower half of a process id, and so do we."""
    number, unless_own = call.number(machine), _ASK if watched else _ERRNO | errno.EPERM
    if call.when == "other_process":
        return [
            *((_JUMP_EQUAL, 0, 4, number), (_LOAD, 0, 0, _FIRST_ARGUMENT_AT)),
            *((_JUMP_EQUAL, 0, 1, 0), (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, unless_own)),
        ]
    if call.when == "other_owner":
        return [
            *((_JUMP_EQUAL, 0, 7, number), (_LOAD, 0, 0, _FIRST_ARGUMENT_AT)),
            *((_JUMP_EQUAL, 4, 0, call.user_wide), (_LOAD, 0, 0, _SECOND_ARGUMENT_AT)),
            *((_JUMP_EQUAL, 0, 1, 0), (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, unless_own)),
            _refuse(errno.EPERM),
        ]
    return [(_JUMP_EQUAL, 0, 1, number), _refuse(errno.EPERM)]


def _no_local_datagrams(architecture: _Architecture) -> list[_Instruction]:
    """Refuse local datagram sockets and pairs: they reach others without `connect`."""
    return [
        *((_JUMP_EQUAL, 1, 0, architecture.socket), (_JUMP_EQUAL, 0, 7, architecture.socketpair)),
        *((_LOAD, 0, 0, _FIRST_ARGUMENT_AT), (_JUMP_EQUAL, 0, 5, int(socket.AF_UNIX))),
        *((_LOAD, 0, 0, _SECOND_ARGUMENT_AT), (_AND, 0, 0, _TYPE_OF_SOCKET)),
        (_JUMP_EQUAL, 2, 0, int(socket.SOCK_STREAM)),
        (_JUMP_EQUAL, 1, 0, int(socket.SOCK_SEQPACKET)),
        _refuse(errno.EACCES),
        (_LOAD, 0, 0, _NUMBER_AT),
    ]


def install_filter(program: bytes) -> None:
    """Irrevocable, and inherited by all children."""
    prctl(PR_SET_SECCOMP, _MODE_FILTER, _program(program))


def _program(program: bytes) -> _Program:
    return _Program(len(program) // 8, program)


def _refuse(number: int) -> _Instruction:
    return (_RETURN, 0, 0, _ERRNO | number)


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
_PROCESS_ARGUMENT = {
    call.number(MACHINE): 1 if call.when == "other_owner" else 0
    for call in REFUSED_CALLS
    if call.when in ("other_process", "other_owner")
}
"""Which argument of each call that names a process is its id."""
_DIAGNOSIS, _BY_FAMILY, _OF_FILE, _FILE, _ANY = 4, 20, 2, 1, 0xFFFFFFFF

ALONE = b"alone"
"""Sent to the guard with the descriptors: nobody else is in the command's network."""

SocketFile = tuple[int, int]
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
            if number == _ARCHITECTURES[MACHINE].connect:
                threading.Thread(target=self._connect, args=[call], daemon=True).start()
            elif number in _PROCESS_ARGUMENT:
                self._reach(call, arguments[_PROCESS_ARGUMENT[number]] & 0xFFFFFFFF)
            else:
                self._listen(call)

    def _reach(self, call: _Call, process: int) -> None:
        """Only numbers are passed, which nobody can swap while the kernel goes on."""
        if _is_below_us(process):
            self._answer_call(call, go_on=True)
        else:
            self._answer_call(call, error=errno.EPERM)

    def _listen(self, call: _Call) -> None:
        """Remember the socket; the command cannot hold one of another program."""
        with contextlib.suppress(OSError), self._taken(call) as held:
            if held.family == socket.AF_UNIX:
                self._listening.add(os.fstat(held.fileno()).st_ino)
                name = held.getsockname()
                if isinstance(name, bytes):
                    self._names.add(name)
        self._answer_call(call, go_on=True)

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
            self._answer_call(call, error=error.errno or errno.EACCES)
        except BaseException:
            self._answer_call(call, error=errno.EACCES)
        else:
            self._answer_call(call)

    def _connect_unix(self, call: _Call, held: socket.socket, address: bytes) -> None:
        name = address[2:]
        if name.startswith(b"\0"):
            if not self._alone and name not in self._names:
                raise OSError(errno.EACCES, "not a socket of the command")
            connect(held.fileno(), address)
            return
        target = _opened(call.thread, name.split(b"\0")[0])
        try:
            status = os.fstat(target)
            if (status.st_dev, status.st_ino) not in self._own_files():
                raise OSError(errno.EACCES, "not a socket of the command")
            path = f"/proc/self/fd/{target}".encode()
            connect(held.fileno(), struct.pack("H", socket.AF_UNIX) + path + b"\0")
        finally:
            os.close(target)

    def _own_files(self) -> set[SocketFile]:
        """Where the command listens now. Queried each time: inodes are reused."""
        with self._asking:
            files = {number: socket_file(self.diagnosis, number) for number in self._listening}
            self._listening = {number for number, place in files.items() if place}
        return {place for place in files.values() if place}

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

    def _answer_call(self, call: _Call, *, error: int = 0, go_on: bool = False) -> None:
        with contextlib.suppress(OSError):  # the command is gone
            answer = _ANSWER.pack(call.id, 0, -error, _GO_ON if go_on else 0)
            ioctl(self.calls, _SEND, bytearray(answer))


def watch(program: bytes, guard: socket.socket, *, alone: bool) -> None:
    """Install a filter that asks about sockets, and hand the guard what it answers with."""
    diagnosis = socket.SOCK_RAW | socket.SOCK_CLOEXEC
    with socket.socket(socket.AF_NETLINK, diagnosis, _DIAGNOSIS) as asking:
        flags = _WITH_LISTENER | _WAIT_KILLABLE
        number = _ARCHITECTURES[MACHINE].seccomp
        calls = system_call(number, _SET_FILTER, flags, _program(program))
        socket.send_fds(guard, [ALONE if alone else b"-"], [calls, asking.fileno()])


def socket_file(diagnosis: socket.socket, number: int) -> SocketFile | None:
    """Where a socket's file is, according to the kernel; a name can be moved."""
    facts, at = _socket_facts(diagnosis, number), 16
    while at + 12 <= len(facts):
        length, kind = struct.unpack_from("HH", facts, at)
        if kind == _FILE:
            inode, device = struct.unpack_from("II", facts, at + 4)
            return os.makedev(device >> 20, device & 0xFFFFF), inode
        at += max(length + 3 & ~3, 4)
    return None


def _socket_facts(diagnosis: socket.socket, number: int) -> bytes:
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
        if not _socket_facts(watched.diagnosis, os.fstat(ours.fileno()).st_ino):
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
