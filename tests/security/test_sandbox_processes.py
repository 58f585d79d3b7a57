"""Ways out of the sandbox: other programs, the network, and using up the machine.

What counts is the process list, and what arrived at the other end.
"""

# ruff: noqa: ASYNC220, ASYNC240 - looking at the disk takes no time here

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from cowork_jupyter.domain.roles import AgentRole

from .cage import SECRET, Cage, becomes, is_alive, running_with

pytestmark = pytest.mark.asyncio

TESTER = AgentRole.TESTER


@pytest.fixture
def victim() -> Iterator[subprocess.Popen[bytes]]:
    """Another program of the same user, with a key in its environment."""
    with subprocess.Popen(["sleep", "300"], env={"API_KEY": SECRET}) as process:
        yield process
        process.kill()


# Other programs


async def test_environment_of_another_program(
    cage: Cage, victim: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    environ = Path(f"/proc/{victim.pid}/environ")  # empty until the program is loaded
    assert await becomes(lambda: SECRET.encode() in environ.read_bytes())
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    for role in (AgentRole.ACTOR, TESTER):
        text = await cage.run(
            f"cat /proc/{victim.pid}/environ; cat /proc/*/environ; env; cat /proc/$PPID/environ",
            role=role,
        )
        assert SECRET not in text


async def test_memory_and_files_of_this_very_process(cage: Cage) -> None:
    me = os.getpid()
    text = await cage.run(
        f"head -c 9 /proc/{me}/mem && echo READ; cat /proc/{me}/maps && echo READ;"
        f"readlink /proc/{me}/fd/0 && echo READ; ls /proc/{me}/root/ && echo READ;"
        f"echo x > /proc/{me}/cwd/cowork-was-here"
    )
    assert "READ" not in text
    assert not Path("cowork-was-here").exists()


async def test_attaching_to_another_program(cage: Cage, victim: subprocess.Popen[bytes]) -> None:
    code = f"""
import ctypes
libc = ctypes.CDLL(None)
print("attached", libc.ptrace(16, {victim.pid}, 0, 0), libc.ptrace(0x4206, {victim.pid}, 0, 0))
"""
    assert "attached -1 -1" in await cage.python(code)
    status = Path(f"/proc/{victim.pid}/status").read_text()
    assert "TracerPid:\t0" in status


async def test_signals_to_other_programs(cage: Cage, victim: subprocess.Popen[bytes]) -> None:
    me = os.getpid()
    await cage.run(
        f"kill -9 {victim.pid}; kill -STOP {victim.pid}; kill -0 {me}; kill -9 $PPID; true"
    )
    state = Path(f"/proc/{victim.pid}/stat").read_text().rpartition(")")[2].split()[0]
    assert victim.poll() is None
    assert state != "T" or cage.admits("send signals")


async def test_more_rights_by_a_program_that_has_them(cage: Cage) -> None:
    text = await cage.run("grep -E 'NoNewPrivs|CapEff' /proc/self/status")
    assert "NoNewPrivs:\t1" in text
    held = int(text.split("CapEff:")[1].split()[0], 16)
    assert held & ~0b11011 == 0  # at most what files of one's own need


async def test_the_kernels_key_ring(cage: Cage) -> None:
    code = "import ctypes, platform\nn = 250 if platform.machine() == 'x86_64' else 219\n"
    assert "got -1" in await cage.python(
        code + "print('got', ctypes.CDLL(None).syscall(n, 0, -3, 1))"
    )


# Staying behind


async def test_child_in_the_background(cage: Cage) -> None:
    mark = f"300.{os.getpid()}1"
    await cage.run(f"sleep {mark} & sleep {mark} & echo done")
    assert running_with(mark) == []


async def test_daemon_that_left_session_and_group(cage: Cage) -> None:
    mark = f"300.{os.getpid()}2"
    code = f"""
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setsid()
        os.execvp("sleep", ["sleep", "{mark}"])
    os._exit(0)
while True:
    time.sleep(0.01)
    if any(b"{mark}" in open(f"/proc/{{p}}/cmdline", "rb").read() and p != str(os.getpid())
           for p in os.listdir("/proc") if p.isdigit() and os.path.exists(f"/proc/{{p}}/cmdline")):
        break
"""
    await cage.python(code)
    assert running_with(mark) == []


async def test_daemon_that_ignores_signals(cage: Cage) -> None:
    mark = f"300.{os.getpid()}3"
    deaf = f"trap '' TERM; sleep {mark}; sleep {mark}"
    text = await cage.run(f'(trap "" TERM HUP INT; setsid nohup sh -c "{deaf}" &); echo ok')
    assert "ok" in text
    assert running_with(mark) == []


async def test_time_limit_ends_what_left_the_group(cage: Cage) -> None:
    mark = f"300.{os.getpid()}4"
    text = await cage.run_out_of_time(
        f"rm -f left; setsid sh -c 'touch left; exec sleep {mark}' & "
        f"until test -e left; do sleep 0.01; done; echo left; sleep {mark}"
    )
    assert "time limit" in text
    assert running_with(mark) == []


async def test_cancelling_ends_what_left_the_group(cage: Cage) -> None:
    mark = f"300.{os.getpid()}5"
    task = asyncio.create_task(cage.run(f"setsid sleep {mark} & sleep {mark}"))
    assert await becomes(lambda: len(running_with(f"sleep\0{mark}")) >= 2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await becomes(lambda: running_with(mark) == [])


async def test_nothing_survives_the_end_of_the_server(cage: Cage) -> None:
    mark = f"300.{os.getpid()}6"
    program = f"""
import asyncio
from pathlib import Path
from cowork_jupyter.domain.settings import Settings
from tests.security.cage import Cage
settings = Settings(Path({str(cage.root)!r}), Path("/nowhere"))
cage = Cage(Path({str(cage.base)!r}), {cage.way!r}, settings)
asyncio.run(cage.run("setsid sleep {mark} & sleep {mark}"))
"""
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)]) as server:
        assert await becomes(lambda: len(running_with(f"sleep\0{mark}")) >= 2)
        server.send_signal(signal.SIGKILL)
    assert await becomes(lambda: running_with(mark) == [])
    assert await becomes(lambda: not any(map(is_alive, _children_of(server.pid))))


def _children_of(parent: int) -> list[int]:
    found = []
    for path in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if path.name.isdigit() and f"PPid:\t{parent}\n" in (path / "status").read_text():
                found.append(int(path.name))
    return found


# The network


@contextlib.contextmanager
def listening(
    kind: socket.SocketKind, family: int = socket.AF_INET, address: str = ""
) -> Iterator[socket.socket]:
    with socket.socket(family, kind) as server:
        server.bind(address or ("127.0.0.1", 0))
        if kind == socket.SOCK_STREAM:
            server.listen()
        server.setblocking(False)
        yield server


def connect(address: object, family: str = "AF_INET") -> str:
    """A program that says `in` when it got there."""
    return f"""
import socket
s = socket.socket(socket.{family})
s.settimeout(5)
s.connect({address!r})
print("in")
"""


async def test_tester_has_no_tcp(cage: Cage) -> None:
    with listening(socket.SOCK_STREAM) as server:
        text = await cage.python(connect(server.getsockname()), role=TESTER)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert "in\n" not in text


async def test_tester_has_no_udp(cage: Cage) -> None:
    with listening(socket.SOCK_DGRAM) as server:
        code = f"import socket\nsocket.socket(2, 2).sendto(b'out', {server.getsockname()!r})"
        await cage.python(code, role=TESTER)
        with pytest.raises(BlockingIOError):
            server.recv(10)


async def test_tester_cannot_look_up_names_or_send_pings(cage: Cage) -> None:
    code = """
import socket
for family, kind, protocol in ((2, 3, 1), (10, 3, 58), (17, 3, 0), (40, 1, 0)):
    try:
        s = socket.socket(family, kind, protocol)
    except OSError as error:
        continue
    print("opened", family)
"""
    assert "opened" not in await cage.python(code, role=TESTER)


async def test_actor_reaches_the_network_when_that_is_allowed(cage: Cage) -> None:
    with listening(socket.SOCK_STREAM) as server:
        text = await cage.python(connect(server.getsockname()))
        assert "in\n" in text, text
        server.accept()[0].close()


async def test_actor_has_no_network_when_that_is_denied(cage: Cage) -> None:
    cage.change(sandbox_network="deny")
    with listening(socket.SOCK_STREAM) as server, listening(socket.SOCK_DGRAM) as other:
        text = await cage.python(connect(server.getsockname()))
        await cage.python(
            f"import socket\nsocket.socket(2, 2).sendto(b'x', {other.getsockname()!r})"
        )
        with pytest.raises(BlockingIOError):
            server.accept()
        with pytest.raises(BlockingIOError):
            other.recv(10)
    assert "in\n" not in text


async def test_tester_serves_nobody_but_itself(cage: Cage) -> None:
    code = """
import socket
server = socket.create_server(("127.0.0.1", 0))
port = server.getsockname()[1]
socket.create_connection(("127.0.0.1", port))
server.accept()
print(f"served {port}!", flush=True)
while True:
    server.accept()[0].sendall(b"the tester")
"""
    served: list[str] = []
    task = asyncio.create_task(cage.python(code, role=TESTER, output=served.append))
    assert await becomes(lambda: "!" in "".join(served) or task.done())
    # Where it has a network of its own, tests can use it; it is not ours.
    assert task.done() != cage.own_mounts
    if not task.done():
        port = int("".join(served).split()[-1].rstrip("!"))
        # Nobody is there, or by chance somebody of ours who listens at the same number.
        with (
            contextlib.suppress(OSError),
            socket.create_connection(("127.0.0.1", port), timeout=5) as us,
        ):
            assert us.recv(20) != b"the tester"
        task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def test_io_uring_opens_no_sockets_past_the_filter(cage: Cage) -> None:
    code = "import ctypes; print('got', ctypes.CDLL(None).syscall(425, 8, None))"
    assert "got -1" in await cage.python(code, role=TESTER)


async def test_abstract_sockets(cage: Cage) -> None:
    name = f"\0cowork-{os.getpid()}-{cage.way}"
    with listening(socket.SOCK_STREAM, socket.AF_UNIX, name) as server:
        for role in (AgentRole.ACTOR, TESTER):
            text = await cage.python(connect(name, "AF_UNIX"), role=role)
            assert "in\n" not in text or (role is not TESTER and cage.admits("abstract sockets"))
        if not cage.admits("abstract sockets"):
            with pytest.raises(BlockingIOError):
                server.accept()


# Using up the machine


async def test_huge_file(cage: Cage) -> None:
    cage.change(sandbox_file_mb=1)
    await cage.run("head -c 9000000 /dev/zero > big; head -c 9000000 /dev/zero > $TMPDIR/big")
    assert (cage.root / "big").stat().st_size == 1024 * 1024


async def test_hog_of_memory(cage: Cage) -> None:
    cage.change(sandbox_memory_mb=300)
    text = await cage.python(
        "x = bytearray(100_000_000); print('some'); bytearray(900_000_000); print('much')"
    )
    assert "some" in text
    assert "much" not in text
    assert "MemoryError" in text


async def test_reserving_memory_without_using_it_is_no_crime(cage: Cage) -> None:
    cage.change(sandbox_memory_mb=300)
    code = "import mmap; mmap.mmap(-1, 2**36, mmap.MAP_PRIVATE | 0x4000, 0); print('fine')"
    assert "fine" in await cage.python(code)


async def test_many_processes(cage: Cage) -> None:
    cage.change(sandbox_processes=50)
    text = await cage.run("ulimit -u; ulimit -c")
    limit, core = text.splitlines()[:2]
    assert limit.isdigit()
    assert core == "0"
    assert cage.admits("number of processes") == (os.getuid() == 0)


async def test_flood_of_output_is_cut(cage: Cage) -> None:
    text = await cage.test("head -c 20000000 /dev/zero | tr '\\0' x")
    assert len(text) < 9_000_000
