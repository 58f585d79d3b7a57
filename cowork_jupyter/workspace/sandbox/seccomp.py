"""A seccomp filter for what Landlock cannot refuse: sockets of every kind.

Hand-assembled BPF: a dozen instructions that look at the syscall number and, for `socket`, at the
family.
"""

from __future__ import annotations

import ctypes
import errno
import socket
import struct
from dataclasses import dataclass

from .syscalls import MACHINE, PR_SET_SECCOMP, prctl, system_call

_MODE_FILTER = 2
_LOAD, _JUMP_EQUAL, _JUMP_SET, _AND, _RETURN = 0x20, 0x15, 0x45, 0x54, 0x06
_ALLOW, _ERRNO, _ASK = 0x7FFF0000, 0x00050000, 0x7FC00000
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_ARGUMENT_AT, _SECOND_ARGUMENT_AT = 0, 4, 16, 24
_SET_FILTER, _WITH_LISTENER, _WAIT_KILLABLE = 1, 8, 32
_TYPE_OF_SOCKET = 0xF
_X32 = 0x40000000
_IO_URING_SETUP = 425


@dataclass(frozen=True)
class _Architecture:
    audit: int
    socket: int
    keys: tuple[int, int, int]
    """add_key, request_key, keyctl: the kernel's key ring holds passwords and tickets."""
    connect: int
    listen: int
    socketpair: int
    seccomp: int


_ARCHITECTURES = {
    "x86_64": _Architecture(0xC000003E, 41, (248, 249, 250), 42, 50, 53, 317),
    "aarch64": _Architecture(0xC00000B7, 198, (217, 218, 219), 203, 201, 199, 277),
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
    allowed: frozenset[int] | None, machine: str = MACHINE, *, watched: bool = False
) -> bytes:
    """Refuse the key ring, io_uring (which opens sockets past any filter) and other families.

    With `watched`, the filter's listener is asked about each connect and listen.
    """
    known = _ARCHITECTURES[machine]
    code = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_JUMP_EQUAL, 1, 0, known.audit),
        _refuse(errno.EPERM),  # 32-bit programs use other syscall numbers
        (_LOAD, 0, 0, _NUMBER_AT),
        (_JUMP_SET, 0, 1, _X32),
        _refuse(errno.EPERM),
        (_JUMP_EQUAL, 0, 1, _IO_URING_SETUP),
        _refuse(errno.ENOSYS),
    ]
    for number in known.keys:
        code += [(_JUMP_EQUAL, 0, 1, number), _refuse(errno.EPERM)]
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


def _no_local_datagrams(known: _Architecture) -> list[tuple[int, int, int, int]]:
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


def _refuse(number: int) -> tuple[int, int, int, int]:
    return (_RETURN, 0, 0, _ERRNO | number)
