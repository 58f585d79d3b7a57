"""A filter for system calls, for what Landlock cannot refuse: sockets of every kind.

The filter is a small program for the kernel's packet-filter machine, made by hand here:
a dozen instructions that look at the call's number and, for `socket`, at the family.
"""

from __future__ import annotations

import ctypes
import errno
import socket
import struct
from dataclasses import dataclass

from .kernel import MACHINE, PR_SET_SECCOMP, prctl

_MODE_FILTER = 2
_LOAD, _JUMP_EQUAL, _JUMP_SET, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16
_X32 = 0x40000000
_IO_URING_SETUP = 425


@dataclass(frozen=True)
class _Architecture:
    audit: int
    socket: int
    keys: tuple[int, int, int]
    """add_key, request_key, keyctl: the kernel's key ring holds passwords and tickets."""


_ARCHITECTURES = {
    "x86_64": _Architecture(0xC000003E, 41, (248, 249, 250)),
    "aarch64": _Architecture(0xC00000B7, 198, (217, 218, 219)),
}


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def seccomp_works_here(machine: str = MACHINE) -> bool:
    """Whether we know this machine's system calls well enough to filter them."""
    return machine in _ARCHITECTURES


def families(*, internet: bool, unix: bool, others: bool) -> frozenset[int] | None:
    """The socket families that a command may open; None for all."""
    if internet and unix and others:
        return None
    allowed = {socket.AF_NETLINK} if hasattr(socket, "AF_NETLINK") else set()  # lists interfaces
    allowed |= {socket.AF_INET, socket.AF_INET6} if internet else set()
    allowed |= {socket.AF_UNIX} if unix else set()
    return frozenset(map(int, allowed))


def filter_program(allowed: frozenset[int] | None, machine: str = MACHINE) -> bytes:
    """Refuse the key ring, io_uring (which opens sockets past any filter) and other families."""
    known = _ARCHITECTURES[machine]
    code = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_JUMP_EQUAL, 1, 0, known.audit),
        _refuse(errno.EPERM),  # 32-bit programs number their calls differently
        (_LOAD, 0, 0, _NUMBER_AT),
        (_JUMP_SET, 0, 1, _X32),
        _refuse(errno.EPERM),
        (_JUMP_EQUAL, 0, 1, _IO_URING_SETUP),
        _refuse(errno.ENOSYS),
    ]
    for number in known.keys:
        code += [(_JUMP_EQUAL, 0, 1, number), _refuse(errno.EPERM)]
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


def install_filter(program: bytes) -> None:
    """From here on, this process and all it starts live under the filter."""
    held = _Program(len(program) // 8, program)
    prctl(PR_SET_SECCOMP, _MODE_FILTER, held)


def _refuse(number: int) -> tuple[int, int, int, int]:
    return (_RETURN, 0, 0, _ERRNO | number)
