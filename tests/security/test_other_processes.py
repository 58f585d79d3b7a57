"""Calls that take another process's id, or a name that all programs share: tried from each role.

What counts is that the victim is as before: alive, with its limits, its place in the queue, its
memory and its shared names.
"""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.tools.kernel.scratch_kernel import ScratchKernels
from cowork_jupyter.workspace.sandbox.seccomp import REFUSED_CALLS
from cowork_jupyter.workspace.sandbox.syscalls import MACHINE

from .cage import SECRET, Cage, is_alive

pytestmark = pytest.mark.asyncio

ROLES = pytest.mark.parametrize("role", AgentRole, ids=str)
NUMBERS = {call.name: call.number(MACHINE) for call in REFUSED_CALLS}
_PRIVATE_MEMORY, _MAKE, _REMOVE = 0, 0o1000 | 0o666, 0
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Victim:
    """Another program of the user's, and memory that it shares by a System V name."""

    pid: int
    shared: int

    def state(self) -> tuple[object, ...]:
        process = Path(f"/proc/{self.pid}")
        scheduling = (process / "stat").read_text().rpartition(")")[2].split()[15:17]
        return (
            (process / "limits").read_text(),
            os.sched_getaffinity(self.pid),
            os.sched_getscheduler(self.pid),
            _LIBC.syscall(252 if MACHINE == "x86_64" else 31, 1, self.pid),  # ioprio_get
            scheduling,
            os.getpriority(os.PRIO_PROCESS, os.getpid()),
            f" {self.shared} " in Path("/proc/sysvipc/shm").read_text(),
        )


@pytest.fixture
def victim() -> Iterator[Victim]:
    shared = _LIBC.shmget(_PRIVATE_MEMORY, 4096, _MAKE)
    with subprocess.Popen(["sleep", "300"], env={"API_KEY": SECRET}) as process:
        yield Victim(process.pid, shared)
        process.kill()
    _LIBC.shmctl(shared, _REMOVE, None)


async def run_as(cage: Cage, role: AgentRole, code: str) -> str:
    """The code in a command, or in scratch if the role may run no commands."""
    code = textwrap.dedent(code)
    if role in (AgentRole.ACTOR, AgentRole.TESTER):
        return await cage.python(code, role=role)
    kernels = ScratchKernels(cage.sandbox)
    try:
        return await cage.in_scratch(kernels, code, role=role)
    finally:
        await kernels.close()


def attempts(victim: Victim) -> str:
    """Each refused call, with arguments that would do harm; `reached` if the kernel took it."""
    pid, group, shared = victim.pid, os.getpgid(victim.pid), victim.shared
    return f"""
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
limits, mask, numbers = (ctypes.c_uint64 * 2)(1, 1), (ctypes.c_uint64 * 16)(1), {NUMBERS!r}
priority = (ctypes.c_int * 1)(0)
attributes = (ctypes.c_uint32 * 14)(56, 3, 0, 0, 10)
pages = (ctypes.c_void_p * 1)(0)
vector = (ctypes.c_size_t * 2)(ctypes.addressof(mask), 64)
event = (ctypes.c_uint32 * 32)(1, 128)
pidfd = libc.syscall(434, {pid}, 0)
tries = {{
    "prlimit64": [({pid}, kind, limits, None) for kind in (0, 1, 7)],
    "sched_setaffinity": [({pid}, 128, mask)],
    "sched_setscheduler": [({pid}, 3, priority)],
    "sched_setparam": [({pid}, priority)],
    "sched_setattr": [({pid}, attributes, 0)],
    "setpriority": [(0, {pid}, 19), (1, {group}, 19), (2, 0, 19), (2, os.getuid(), 19)],
    "ioprio_set": [(1, {pid}, 3 << 13), (2, {group}, 3 << 13), (3, 0, 3 << 13)],
    "move_pages": [({pid}, 1, pages, None, mask, 0)],
    "migrate_pages": [({pid}, 64, mask, mask)],
    "process_vm_readv": [({pid}, vector, 1, vector, 1, 0)],
    "process_vm_writev": [({pid}, vector, 1, vector, 1, 0)],
    "process_madvise": [(pidfd, vector, 1, 21, 0)],
    "process_mrelease": [(pidfd, 0)],
    "kcmp": [(os.getpid(), {pid}, 0, 0, 0)],
    "pidfd_getfd": [(pidfd, 0, 0)],
    "pidfd_send_signal": [(pidfd, 9, None, 0)],
    "userfaultfd": [(0,), (1,)],
    "perf_event_open": [(event, {pid}, -1, -1, 0), (event, 0, -1, -1, 0)],
    "bpf": [(0, mask, 64)],
    "io_uring_setup": [(8, mask)],
    "shmat": [({shared}, None, 0)],
    "shmctl": [({shared}, 0, None)],
}}
for name, calls in tries.items():
    for arguments in calls:
        ctypes.set_errno(0)
        answer = libc.syscall(numbers[name], *arguments)
        if answer != -1:
            print("reached", name, answer)
print("tried", len(tries))
"""


@ROLES
async def test_no_call_reaches_another_program(cage: Cage, victim: Victim, role: AgentRole) -> None:
    before = victim.state()
    said = await run_as(cage, role, attempts(victim))
    assert "tried 22" in said
    assert "reached" not in said
    assert is_alive(victim.pid)
    assert victim.state() == before


@ROLES
async def test_resource_limits_of_this_very_server(cage: Cage, role: AgentRole) -> None:
    """One second of CPU would kill it, one open file would cripple it."""
    kinds = (resource.RLIMIT_CPU, resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE)
    before = [resource.getrlimit(kind) for kind in kinds]
    said = await run_as(
        cage,
        role,
        f"""
        import resource
        for kind in {tuple(map(int, kinds))}:
            try:
                print("set", resource.prlimit({os.getpid()}, kind, (1, 1)))
            except OSError as error:
                print("refused:", error.strerror)
        """,
    )
    assert [resource.getrlimit(kind) for kind in kinds] == before
    assert said.count("refused:") == 3
    assert "set" not in said


async def test_a_command_may_limit_itself_and_what_it_has_started(cage: Cage) -> None:
    code = """
import os, resource, subprocess
resource.prlimit(0, resource.RLIMIT_NOFILE, (50, 60))
before = os.nice(0)
os.setpriority(os.PRIO_PROCESS, 0, before + 3)
os.sched_setaffinity(0, os.sched_getaffinity(0))
print("itself", resource.getrlimit(resource.RLIMIT_NOFILE), os.nice(0) - before)
child = subprocess.Popen(["sleep", "60"])
resource.prlimit(os.getpid(), resource.RLIMIT_NOFILE, (40, 60))
resource.prlimit(child.pid, resource.RLIMIT_NOFILE, (30, 30))
os.setpriority(os.PRIO_PROCESS, child.pid, before + 4)
print("its child", resource.prlimit(child.pid, resource.RLIMIT_NOFILE))
"""
    said = await cage.python(code)
    assert "itself (50, 60) 3" in said
    # Only a guard knows which processes are the command's own.
    watched = cage.sandbox.capabilities.own_sockets_only
    assert ("its child (30, 30)" in said) == watched, said


async def test_shared_names_of_other_programs(cage: Cage, victim: Victim) -> None:
    """A message queue and memory under a well-known key, made here and looked for there."""
    queue, key = f"/cowork-{os.getpid()}".encode(), 0xC0DE0000 | os.getpid() & 0xFFFF
    real_time = ctypes.CDLL("librt.so.1", use_errno=True)
    held = real_time.mq_open(queue, os.O_RDWR | os.O_CREAT, 0o600, None)
    known = _LIBC.shmget(key, 4096, _MAKE)
    try:
        said = await cage.python(f"""
import ctypes, os
libc, rt = ctypes.CDLL(None, use_errno=True), ctypes.CDLL("librt.so.1", use_errno=True)
print("queue", rt.mq_open({queue!r}, os.O_RDWR), rt.mq_unlink({queue!r}))
print("memory", libc.shmget({key}, 4096, 0o600))
""")
        assert "queue -1 -1" in said
        assert "memory -1" in said
        assert held >= 0
        assert real_time.mq_unlink(queue) == 0
        assert _LIBC.shmget(key, 4096, 0o600) == known
    finally:
        real_time.mq_unlink(queue)
        _LIBC.shmctl(known, _REMOVE, None)


async def test_timers_and_owners_of_files_send_no_signals(cage: Cage, victim: Victim) -> None:
    """Both take a thread or process that gets a signal."""
    said = await cage.python(f"""
import ctypes, fcntl, os, signal, time
libc = ctypes.CDLL(None, use_errno=True)
number = 222 if os.uname().machine == "x86_64" else 107
event = (ctypes.c_int * 16)(0, 0, signal.SIGTERM, 4, {victim.pid})
print("timer", libc.syscall(number, 1, event, (ctypes.c_int * 1)()))
read, write = os.pipe()
try:
    fcntl.fcntl(read, fcntl.F_SETOWN, {victim.pid})
    fcntl.fcntl(read, fcntl.F_SETFL, os.O_ASYNC)
    os.write(write, b"x")
except OSError as error:
    print(error)
time.sleep(0.1)
""")
    assert "timer -1" in said
    assert is_alive(victim.pid) or cage.admits("send signals")


async def test_where_nobody_watches_all_other_processes_are_refused(
    cage: Cage, victim: Victim
) -> None:
    """As on older kernels, which cannot ask a guard."""
    if cage.sandbox.capabilities.watches_sockets:
        cage.sandbox.capabilities = replace(cage.sandbox.capabilities, watches_sockets=False)
    before = victim.state()
    said = await cage.python(attempts(victim))
    assert "tried 22" in said
    assert "reached" not in said
    assert victim.state() == before
