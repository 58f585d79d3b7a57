"""The system call filter, run by a machine of our own, so that every architecture is tried."""

from __future__ import annotations

import errno
import socket
import struct

import pytest

from cowork_jupyter.workspace.sandbox.seccomp import (
    REFUSED_CALLS,
    RefusedCall,
    allowed_families,
    filter_program,
    seccomp_works_here,
)

pytestmark = pytest.mark.process

X86, ARM = (0xC000003E, 41), (0xC00000B7, 198)
MACHINES = pytest.mark.parametrize(
    ("machine", "numbers"), [("x86_64", X86), ("aarch64", ARM)], ids=["x86_64", "aarch64"]
)
ALLOWED, ASKED = 0, -1


def answer(program: bytes, *, audit: int, number: int, first: int = 0, second: int = 1) -> int:
    """The error that a call gets; 0 if it is let through."""
    data = struct.pack("<IIQ6Q", number, audit, 0, first, second, 0, 0, 0, 0)
    code = list(struct.iter_unpack("HBBI", program))
    value = place = 0
    while True:
        kind, if_so, if_not, constant = code[place]
        place += 1
        if kind == 0x20:
            (value,) = struct.unpack_from("<I", data, constant)
        elif kind == 0x54:
            value &= constant
        elif kind == 0x06:
            special = {0x7FFF0000: ALLOWED, 0x7FC00000: ASKED}
            return special.get(constant, int(constant) & 0xFFFF)
        else:
            so = value == constant if kind == 0x15 else bool(value & constant)
            place += if_so if so else if_not


@MACHINES
def test_only_listed_families_can_be_opened(machine: str, numbers: tuple[int, int]) -> None:
    audit, open_socket = numbers
    program = filter_program(allowed_families(internet=False, unix=True, others=False), machine)
    for family, error in {
        socket.AF_UNIX: ALLOWED,
        16: ALLOWED,
        socket.AF_INET: errno.EACCES,
        socket.AF_INET6: errno.EACCES,
        17: errno.EACCES,  # packets as they are on the wire
        40: errno.EACCES,  # to the host of a virtual machine
    }.items():
        assert answer(program, audit=audit, number=open_socket, first=int(family)) == error


@MACHINES
def test_local_sockets_must_connect_and_are_asked_about(
    machine: str, numbers: tuple[int, int]
) -> None:
    audit, open_socket = numbers
    pair, connect, listen = {"x86_64": (53, 42, 50), "aarch64": (199, 203, 201)}[machine]
    for watched in (False, True):
        program = filter_program(None, machine, watched=watched)
        for number in (open_socket, pair):
            for kind, error in {1: ALLOWED, 5: ALLOWED, 2: errno.EACCES, 3: errno.EACCES}.items():
                flags = kind | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK
                known = {"audit": audit, "number": number, "second": flags}
                assert answer(program, **known, first=int(socket.AF_UNIX)) == error
                assert answer(program, **known, first=int(socket.AF_INET)) == ALLOWED
        for number in (connect, listen):
            expected = ASKED if watched else ALLOWED
            assert answer(program, audit=audit, number=number) == expected


@MACHINES
def test_a_family_with_rubbish_above_it_is_still_seen(
    machine: str, numbers: tuple[int, int]
) -> None:
    program = filter_program(allowed_families(internet=False, unix=True, others=False), machine)
    padded = 0xDEAD_0000_0000 | socket.AF_INET  # the kernel looks at the lower half only
    found = answer(program, audit=numbers[0], number=numbers[1], first=padded)
    assert found == errno.EACCES


@MACHINES
@pytest.mark.parametrize("call", REFUSED_CALLS, ids=[call.name for call in REFUSED_CALLS])
def test_calls_that_reach_other_programs(
    machine: str, numbers: tuple[int, int], call: RefusedCall
) -> None:
    def ask(first: int, second: int, **options: bool) -> int:
        program = filter_program(None, machine, **options)
        number = call.number(machine)
        return answer(program, audit=numbers[0], number=number, first=first, second=second)

    other, itself = 4711, 0xABC_0000_0000  # the kernel looks at the lower half only
    match call.when:
        case "always":
            assert ask(0, 0) == ask(other, 0, watched=True) == errno.EPERM
        case "shared_names":
            assert ask(0, 0, own_names=True) == ALLOWED
            assert ask(0, 0, own_names=False) == errno.EPERM
        case "other_process":
            assert ask(itself, other) == ALLOWED
            assert (ask(other, 0), ask(other, 0, watched=True)) == (errno.EPERM, ASKED)
        case "other_owner":
            for which in set(range(5)) - {call.user_wide}:
                assert ask(which, itself) == ALLOWED
                asked = (ask(which, other), ask(which, other, watched=True))
                assert asked == (errno.EPERM, ASKED)
            assert ask(call.user_wide, 0) == errno.EPERM
            assert ask(call.user_wide, 0, watched=True) == errno.EPERM


@MACHINES
def test_everything_else_goes_through(machine: str, numbers: tuple[int, int]) -> None:
    audit, open_socket = numbers
    special = {open_socket, *(call.number(machine) for call in REFUSED_CALLS)}
    for allowed in (None, frozenset({1})):
        program = filter_program(allowed, machine)
        for number in set(range(500)) - special:
            assert answer(program, audit=audit, number=number) == ALLOWED


def test_other_ways_to_number_calls_are_refused() -> None:
    program = filter_program(None, "x86_64")
    assert answer(program, audit=0x40000003, number=102) == errno.EPERM  # 32 bits: socketcall
    assert answer(program, audit=X86[0], number=0x40000000 | 41) == errno.EPERM  # x32


def test_all_families_need_no_list() -> None:
    assert allowed_families(internet=True, unix=True, others=True) is None
    assert allowed_families(internet=True, unix=False, others=False) == frozenset({2, 10, 16})


def test_an_unknown_architecture_is_not_guessed_at() -> None:
    assert not seccomp_works_here("sparc64")
