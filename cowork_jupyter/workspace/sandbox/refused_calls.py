"""System calls that reach other programs, by a process id or a name that all share.

Landlock and namespaces know nothing of most of them: without this table, `prlimit` alone could kill
the Jupyter server. `docs/reference/sandbox.md` has it in words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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


def calls_about_processes(machine: str) -> dict[int, int]:
    """Which argument of each call that names a process is its id."""
    return {
        call.number(machine): 1 if call.when == "other_owner" else 0
        for call in REFUSED_CALLS
        if call.when in ("other_process", "other_owner")
    }
