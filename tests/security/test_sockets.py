"""Sockets of other programs, and the command's own. What counts is who was let in."""

from __future__ import annotations

import shlex
import socket
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cowork_jupyter.domain.roles import AgentRole

from .cage import Cage, python

pytestmark = pytest.mark.asyncio

GAP = "local sockets of your other programs"


@contextmanager
def listening(path: Path | str, kind: int = socket.SOCK_STREAM) -> Iterator[socket.socket]:
    """Another program that waits for somebody."""
    with socket.socket(socket.AF_UNIX, kind) as server:
        server.bind(str(path))
        if kind != socket.SOCK_DGRAM:
            server.listen()
        server.setblocking(False)
        yield server


def was_reached(server: socket.socket) -> bool:
    """Whether anybody came or sent something."""
    try:
        if server.type == socket.SOCK_DGRAM:
            return bool(server.recv(100))
        server.accept()[0].close()
    except BlockingIOError:
        return False
    return True


@pytest.fixture
def short(cage: Cage) -> Iterator[Path]:
    """A folder of the user's with a short path, as sockets need it, that commands may read."""
    with tempfile.TemporaryDirectory(dir="/opt") as folder:
        yield Path(folder)


@pytest.mark.parametrize("role", [AgentRole.ACTOR, AgentRole.TESTER])
async def test_an_agent_in_the_home_or_anywhere(cage: Cage, short: Path, role: AgentRole) -> None:
    with listening(short / "agent") as server:
        code = f"import socket\nsocket.socket(socket.AF_UNIX).connect({str(short / 'agent')!r})"
        said = await cage.python(code, role=role)
        assert not was_reached(server) or cage.admits(GAP)
        assert "Error" in said or cage.admits(GAP)


async def test_a_socket_in_the_workspace_by_any_name(cage: Cage) -> None:
    # A long path: reached by relative names, links, and after being moved and linked.
    tries = """
        import os, socket
        def reach(path, kind=socket.SOCK_STREAM):
            try:
                with socket.socket(socket.AF_UNIX, kind) as one:
                    one.connect(path)
                    one.sendall(b"in")
            except OSError as error:
                print(path, error)
        reach("s")
        reach("./s")
        os.symlink("s", "link"); reach("link")
        os.link("s", "hard"); reach("hard")
        os.rename("s", "moved"); reach("moved")
        # In the place where the command has a socket of its own.
        own = socket.socket(socket.AF_UNIX); own.bind("own"); own.listen()
        os.rename("moved", "own"); reach("own")
        reach(f"/proc/self/cwd/own")
        folder = os.open(".", os.O_PATH); reach(f"/proc/self/fd/{folder}/own")
        early = socket.socket(socket.AF_UNIX); early.bind("early")
        os.replace("own", "early"); early.listen(); reach("early")
        """
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(cage.root)
        with listening("s") as server:
            await cage.python(textwrap.dedent(tries))
            assert not was_reached(server) or cage.admits(GAP)


async def test_sending_without_connecting(cage: Cage, short: Path) -> None:
    code = """
        import socket
        for make in (lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM),
                     lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0],
                     lambda: socket.socket(socket.AF_UNIX, socket.SOCK_RAW)):
            try:
                make().sendto(b"in", ADDRESS)
            except OSError as error:
                print(error)
        """
    with listening(short / "log", socket.SOCK_DGRAM) as server:
        await cage.python(textwrap.dedent(code).replace("ADDRESS", repr(str(short / "log"))))
        assert not was_reached(server) or cage.admits(GAP)


async def test_swapping_address_and_socket_while_it_is_looked_at(cage: Cage, short: Path) -> None:
    """Threads that write over the path, and put another socket in its place, all the time."""
    if cage.admits(GAP):
        return  # there is nothing to get past, and connecting would wait for somebody to answer
    code = """
        import ctypes, os, socket, struct, threading, time
        libc = ctypes.CDLL(None)
        folder = os.environ["TMPDIR"]
        own = socket.socket(socket.AF_UNIX); own.bind(f"{folder}/o"); own.listen(9999)
        mine = struct.pack("H", 1) + f"{folder}/o".encode().ljust(100, b"\\0")
        theirs = struct.pack("H", 1) + ADDRESS.encode().ljust(100, b"\\0")
        address = ctypes.create_string_buffer(mine, len(mine))
        over = time.monotonic() + 3
        def swap():
            while time.monotonic() < over:
                address[:] = theirs; address[:] = mine
        thread = threading.Thread(target=swap); thread.start()
        count = 0
        while time.monotonic() < over:
            one = socket.socket(socket.AF_UNIX)
            count += libc.connect(one.fileno(), address, len(mine)) == 0
            one.close()
        thread.join()
        print("connected", count)
        """
    with listening(short / "agent") as server:
        said = await cage.python(
            textwrap.dedent(code).replace("ADDRESS", repr(str(short / "agent")))
        )
        assert not was_reached(server) or cage.admits(GAP)
    if cage.sandbox.capabilities.own_sockets_only:
        assert "connected 0" not in said


async def test_abstract_names(cage: Cage) -> None:
    name = f"\0cowork-test-{id(cage)}"
    with listening(name) as server:
        await cage.python(f"import socket\nsocket.socket(socket.AF_UNIX).connect({name!r})")
        assert not was_reached(server) or cage.admits("abstract sockets")


OWN = """
    import asyncio, multiprocessing, os, socket, tempfile, threading
    from multiprocessing.connection import Client, Listener

    def double(number):
        return number * 2

    async def served(path):
        server = await asyncio.start_unix_server(lambda _, w: (w.write(b"hi"), w.close()), path)
        reader, writer = await asyncio.open_unix_connection(path)
        assert await reader.read() == b"hi"
        writer.close(); server.close()

    if __name__ == "__main__":
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(served(f"{folder}/a"))
            os.chdir(folder)
            asyncio.run(served("relative"))
            os.chdir("/")
        a, b = socket.socketpair(); a.send(b"x"); assert b.recv(1) == b"x"
        for how in ("fork", "spawn", "forkserver"):
            with multiprocessing.get_context(how).Pool(2) as pool:
                assert pool.map(double, [1, 2]) == [2, 4]
        with multiprocessing.Manager() as manager:
            assert list(manager.list([1])) == [1]
        with Listener(family="AF_UNIX", authkey=b"k") as listener:
            thread = threading.Thread(target=lambda: listener.accept().send(7)); thread.start()
            assert Client(listener.address, authkey=b"k").recv() == 7
            thread.join()
        with socket.create_server(("127.0.0.1", 0)) as server:
            socket.create_connection(server.getsockname(), timeout=10).close()
            fast = socket.socket(); fast.setblocking(False)
            assert fast.connect_ex(server.getsockname()) in (0, 115)
        try:
            socket.create_connection(("127.0.0.1", 9), timeout=10)
        except ConnectionRefusedError:
            print("all well")
    """


@pytest.mark.parametrize("role", [AgentRole.ACTOR, AgentRole.TESTER])
async def test_a_command_has_its_own_sockets(cage: Cage, role: AgentRole) -> None:
    (cage.root / "own.py").write_text(textwrap.dedent(OWN))
    said = await cage.run(f"{python()} {shlex.quote(str(cage.root / 'own.py'))}", role=role)
    assert "all well" in said or not cage.own_mounts, said


async def test_the_doctor_says_whether_it_holds(cage: Cage) -> None:
    promised = any(
        "cannot reach other programs' local sockets" in one
        for one in cage.sandbox.guarantees().values()
    )
    assert promised != cage.admits(GAP)
