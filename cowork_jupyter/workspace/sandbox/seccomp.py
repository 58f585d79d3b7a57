"""A seccomp filter for what Landlock cannot refuse: sockets, and calls that reach other programs.

Hand-assembled BPF that looks at the syscall number and at most two arguments.
"""

from __future__ import annotations

import ctypes
import errno
import socket
import struct
from dataclasses import dataclass

from .refused_calls import REFUSED_CALLS, RefusedCall
from .syscalls import MACHINE, PR_SET_SECCOMP, prctl, system_call

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


def connect_number() -> int:
    return _ARCHITECTURES[MACHINE].connect


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
    known = _ARCHITECTURES[machine]
    code: list[_Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_JUMP_EQUAL, 1, 0, known.audit),
        _refuse(errno.EPERM),  # 32-bit programs use other syscall numbers
        (_LOAD, 0, 0, _NUMBER_AT),
        (_JUMP_SET, 0, 1, _X32),
        _refuse(errno.EPERM),
    ]
    for call in REFUSED_CALLS:
        if call.when != "shared_names" or not own_names:
            code += _refusal(call, machine, watched=watched)
    for number in (known.connect, known.listen) if watched else ():
        code += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ASK)]
    code += _no_local_datagrams(known)
    if allowed is not None:
        code += [
            (_JUMP_EQUAL, 1, 0, known.socket),
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


def _no_local_datagrams(known: _Architecture) -> list[_Instruction]:
    """Refuse local datagram sockets and pairs: they reach others without `connect`."""
    return [
        *((_JUMP_EQUAL, 1, 0, known.socket), (_JUMP_EQUAL, 0, 7, known.socketpair)),
        *((_LOAD, 0, 0, _FIRST_ARGUMENT_AT), (_JUMP_EQUAL, 0, 5, int(socket.AF_UNIX))),
        *((_LOAD, 0, 0, _SECOND_ARGUMENT_AT), (_AND, 0, 0, _TYPE_OF_SOCKET)),
        (_JUMP_EQUAL, 2, 0, int(socket.SOCK_STREAM)),
        (_JUMP_EQUAL, 1, 0, int(socket.SOCK_SEQPACKET)),
        _refuse(errno.EACCES),
        (_LOAD, 0, 0, _NUMBER_AT),
    ]


def install_filter(program: bytes) -> None:
    """Irrevocable, and inherited by all children."""
    prctl(PR_SET_SECCOMP, _MODE_FILTER, _held(program))


def install_watched_filter(program: bytes) -> int:
    """Like `install_filter`; returns the descriptor of the listener."""
    flags = _WITH_LISTENER | _WAIT_KILLABLE
    return system_call(_ARCHITECTURES[MACHINE].seccomp, _SET_FILTER, flags, _held(program))


def _held(program: bytes) -> _Program:
    return _Program(len(program) // 8, program)


def _refuse(number: int) -> _Instruction:
    return (_RETURN, 0, 0, _ERRNO | number)
