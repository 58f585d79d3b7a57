"""Tries to break out, so that only what was seen to hold just now is claimed."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import get_args

from ...domain.settings import Settings
from ..workspace import Workspace
from .guarantees import Guarantee
from .path_access import find_homes
from .sandbox import Launch, Sandbox

_ATTACKER = Path(__file__).with_name("inside") / "attacker.py"
_SECONDS = 30
_PAUSE = 0.3
"""Seconds in which a program that still runs would write again."""
_MAX_FILES = 20


@dataclass(frozen=True)
class Targets:
    """What the attacker tries to reach."""

    workspace: str
    outside: str
    secrets: list[str]
    at_home: list[str]
    server: int
    port: int
    local_socket: str


def try_out(settings: Settings) -> set[Guarantee]:
    """Which guarantees did not hold. Raises OSError or CoworkError if that cannot be told."""
    with tempfile.TemporaryDirectory(prefix="cowork-trial-") as folder, ExitStack() as stack:
        base = Path(folder).resolve()
        root = base / "workspace"
        for made in (root, base / "outside"):
            made.mkdir()
        (root / ".envrc").touch()
        # Last: what was left behind without a sandbox would write again while all is removed.
        stack.callback(lambda: root.rename(base / "over"))
        sandbox = Sandbox(replace(settings, workspace=root, data_dir=base / "data"))
        stack.callback(sandbox.close)
        targets = Targets(
            workspace=str(root),
            outside=str(base / "outside" / "file"),
            secrets=_first_files(map(str, settings.private)),
            at_home=_first_files(_hidden_at_home(settings)),
            server=os.getpid(),
            port=_listening(stack, socket.AF_INET, ("127.0.0.1", 0)).getsockname()[1],
            local_socket=str(base / "outside" / "socket"),
        )
        _listening(stack, socket.AF_UNIX, targets.local_socket)
        broken = asyncio.run(_attack(sandbox, targets)) | set(_left_behind(root))
        return broken - {"network"} if settings.sandbox_network == "allow" else broken


async def _attack(sandbox: Sandbox, targets: Targets) -> set[Guarantee]:
    as_actor = await _run(sandbox, targets, may_write=True)
    return as_actor | await _run(sandbox, targets, may_write=False)


def _left_behind(root: Path) -> Iterator[Guarantee]:
    before = (root / "alive").stat().st_size
    time.sleep(_PAUSE)
    if (root / "alive").stat().st_size != before:
        yield "ends"
    if (root / ".vscode").exists():
        yield "start_up"


async def _run(sandbox: Sandbox, targets: Targets, *, may_write: bool) -> set[Guarantee]:
    workspace = Workspace(Path(targets.workspace))
    about = json.dumps({**asdict(targets), "may_write": may_write})
    with tempfile.TemporaryFile() as output, workspace.locate(".") as handle:
        with handle.open_folder() as folder:
            launch = Launch(
                arguments=[sys.executable, "-I", "-c", _ATTACKER.read_text("utf-8"), about],
                workspace=workspace,
                folder=folder,
                path=".",
                output=output.fileno(),
                environment={"PATH": os.environ.get("PATH", "")},
                may_write=may_write,
                network=False,
            )
            async with sandbox.running(launch) as command, asyncio.timeout(_SECONDS):
                await command.wait()
        output.seek(0)
        report = output.read().decode("utf-8", "replace")
    try:
        broken = json.loads(report.splitlines()[-1])
    except (IndexError, ValueError):
        raise OSError(0, f"the attacker did not run: {report[-500:]}") from None
    return {name for name in get_args(Guarantee) if name in broken}


def _hidden_at_home(settings: Settings) -> Iterator[str]:
    added = {os.path.expanduser(path) for path in settings.sandbox_read}  # noqa: PTH111
    for home in find_homes(os.environ):
        yield from (str(path) for path in Path(home).glob(".*") if str(path) not in added)


def _first_files(paths: Iterable[str]) -> list[str]:
    """Those that we ourselves can read."""
    readable = (path for path in paths if Path(path).is_file() and os.access(path, os.R_OK))
    return list(islice(readable, _MAX_FILES))


def _listening(stack: ExitStack, family: int, address: str | tuple[str, int]) -> socket.socket:
    made = stack.enter_context(socket.socket(family))
    made.bind(address)
    made.listen()
    return made
