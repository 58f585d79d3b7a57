"""The launcher process: starts confined commands and kills everything they leave behind.

Confining takes steps between fork and exec that a large multi-threaded program cannot take safely.
So the service starts this small process once. It keeps pairs of processes ready for the next
commands, because forking takes as long as all the rest: a guard, and the process that becomes the
command.

The guard is the subreaper of whatever the command leaves behind, so it can kill it all, also what
hid in another session. It does so when the service says so or is gone for any reason.

A spec comes as JSON in a memfd, sent with descriptors. The guard answers with JSON lines on a
socket that came with it: `{"pid": …}` or `{"error": …}`, then `{"status": …}`.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import socket
import struct
import time
from collections.abc import Callable
from typing import NoReturn

from .confine import (
    Bind,
    CommandSpec,
    Descriptors,
    Namespaces,
    enter_namespaces,
    exec_confined,
    prepare_child,
    set_up_mounts,
)
from .seccomp import ALONE, WatchedCalls, try_watching
from .supervisor import end_all, ended_children, has_children, woken_by_children
from .syscalls import PR_SET_CHILD_SUBREAPER, prctl

GRACE = 0.1
"""Seconds between SIGTERM and SIGKILL: cancelling must feel immediate."""
_MAX_DESCRIPTORS = 16
_PAIRS = 2
_PAUSE = 0.005


def main(descriptor: int) -> None:
    """Serve the service at the other end of this socket until it closes."""
    os.setsid()  # Ctrl-C in the terminal is handled by the service
    gc.disable()  # collecting would copy pages that are shared with every fork
    with socket.socket(fileno=descriptor) as service:
        kind: Namespaces = "root" if os.getuid() == 0 else "user"
        abilities = {
            "namespaces": kind if _works(_try_namespaces, kind) else "",
            "watches_sockets": _works(try_watching),
        }
        service.sendall(json.dumps(abilities).encode())
        _keep_pairs_ready(service)


def _keep_pairs_ready(service: socket.socket) -> None:
    """Whichever pair is first takes the next command, and reports it."""
    taken, take = os.pipe2(os.O_CLOEXEC)
    poll = select.poll()
    poll.register(taken, select.POLLIN)
    woken = woken_by_children()
    poll.register(woken, select.POLLIN)
    poll.register(service, 0)  # only its hangup
    ready = set[int]()
    while True:
        while len(ready) < _PAIRS:
            pair = os.fork()
            if pair == 0:
                _in_child(_guard, service, take)
            ready.add(pair)
        seen = {descriptor for descriptor, _ in poll.poll()}
        if service.fileno() in seen:
            return
        if taken in seen:
            for (pair,) in struct.iter_unpack("i", os.read(taken, 4 * _PAIRS)):
                ready.discard(pair)
            time.sleep(_PAUSE)  # let the command that was just requested start first
        if woken in seen:
            ready -= ended_children(woken).keys()


def _works(attempt: Callable[..., object], *arguments: object) -> bool:
    """Whether a forked child can do this without failing."""
    child = os.fork()
    if child == 0:
        _in_child(attempt, *arguments)
    return os.waitpid(child, 0)[1] == 0


def _try_namespaces(kind: Namespaces) -> None:
    enter_namespaces(kind, network=False)
    set_up_mounts([Bind("/usr", "/usr")], ["/dev/shm"])  # noqa: S108 - something to mount on


def _in_child(work: Callable[..., object], *arguments: object) -> NoReturn:
    """Run `work` and exit, whatever happens; never return into the parent's code."""
    code = 1
    try:
        work(*arguments)
        code = 0
    finally:
        os._exit(code)


def _guard(service: socket.socket, take: int) -> None:
    """Start the next command, report how it ends, then kill all that is left of it."""
    woken = woken_by_children()
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    ours, its = socket.socketpair()
    failed, fail = os.pipe2(os.O_CLOEXEC)
    command = os.fork()
    if command == 0:
        for descriptor in (take, failed, ours.detach()):
            os.close(descriptor)
        _in_child(_command, service, its, fail)
    service.close()
    its.close()
    os.close(fail)
    answer = _receive(ours)
    if not answer:
        return
    with contextlib.suppress(BrokenPipeError):  # launcher killed; this command can still run
        os.write(take, struct.pack("i", os.getpid()))
    os.close(take)
    with socket.socket(fileno=answer[0]) as asker, os.fdopen(failed, "rb") as pipe:
        failure = pipe.read().decode(errors="replace")  # closed by exec, so empty on success
        _say(asker, **({"error": failure} if failure else {"pid": command}))
        if not failure:
            _look_after(command, asker, woken, _watched_calls(ours))
        end_all(GRACE)


def _command(service: socket.socket, guard: socket.socket, fail: int) -> None:
    """Wait for a spec, hand the guard the socket to answer on, and become the command."""
    prepare_child()
    received = _receive(service)
    service.close()
    if not received:
        return
    text, answer, *rest = received
    socket.send_fds(guard, [b"."], [answer])
    os.close(answer)
    try:
        with os.fdopen(text, "rb") as file:
            file.seek(0)
            exec_confined(CommandSpec.from_json(file.read()), Descriptors(*rest), guard)
    except BaseException as error:
        os.write(fail, f"{type(error).__name__}: {error}".encode()[:4000])


def _receive(sender: socket.socket) -> list[int]:
    return socket.recv_fds(sender, 1, _MAX_DESCRIPTORS, socket.MSG_CMSG_CLOEXEC)[1]


def _watched_calls(command: socket.socket) -> WatchedCalls | None:
    """What the command handed over before it began, if its calls are watched."""
    network, held, *_ = socket.recv_fds(command, 16, 2, socket.MSG_CMSG_CLOEXEC)
    return WatchedCalls(*held, alone=network == ALONE) if held else None


def _look_after(
    command: int, service: socket.socket, woken: int, watched: WatchedCalls | None
) -> None:
    """Return when no process is left, or when the service closes its side."""
    poll = select.poll()
    poll.register(service, select.POLLIN)
    poll.register(woken, select.POLLIN)
    if watched:
        poll.register(watched.calls, select.POLLIN)
    while True:
        ready = dict(poll.poll())
        if watched and watched.calls in ready:
            if ready[watched.calls] & select.POLLIN:
                watched.answer_next()
            else:  # no process is left that could call
                poll.unregister(watched.calls)
                watched = None
        if woken in ready:
            ended = ended_children(woken)
            if command in ended:
                _say(service, status=ended[command])
            if not has_children():
                return
        if service.fileno() in ready:
            return


def _say(service: socket.socket, **facts: object) -> None:
    with contextlib.suppress(OSError):  # nobody listens any more
        service.sendall(json.dumps(facts).encode() + b"\n")
