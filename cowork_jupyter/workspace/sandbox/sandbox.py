"""The sandbox: starts commands confined by the kernel."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from ...domain.effects import BroughtBack
from ...domain.settings import SandboxChoice, Settings
from ..no_follow import hold
from ..workspace import Workspace
from .autorun import NOTHING_WRITABLE, WritableAutorun
from .clean_up import Aftermath, AutorunGuard, CommandSnapshot
from .confine import CommandSpec, Descriptors, ProcessLimits
from .guarantees import Guarantee, SandboxCapabilities, guarantees, missing_guarantees
from .landlock import landlock_version
from .launcher import ConfinedCommand, Launcher
from .path_access import (
    PathAccess,
    closed_parts,
    find_homes,
    find_path_access,
    is_inside,
    is_inside_any,
    needed_at_home,
    private_paths,
    shared_folders,
)
from .scratch import Scratch, scratch_environment
from .seccomp import allowed_families, filter_program, seccomp_works_here
from .view import (
    View,
    ViewKey,
    bubblewrap_program,
    bwrap_command,
    covered_with_nothing,
    is_set_user_id,
    mounts,
    read_only_mounts,
)

_MEBIBYTE = 1024 * 1024
_PACKAGE = str(Path(__file__).parents[2])
"""Our package may be installed outside of the environment that runs it."""
_MAX_VIEWS = 16
_LAUNCHER = Launcher()


@dataclass(frozen=True)
class Launch:
    arguments: Sequence[str]
    workspace: Workspace
    folder: int
    """Open descriptor of the working directory."""
    path: str
    """The same, relative to the workspace."""
    output: int
    environment: Mapping[str, str]
    may_write: bool
    network: bool = True
    """Whether the user allowed network access, where that is theirs to say."""
    opened: WritableAutorun = NOTHING_WRITABLE
    """What it may write of the files that run later, outside the sandbox."""
    cleaned_up: Callable[[Aftermath], None] = lambda _aftermath: None
    """Called with what became of such files."""
    input: int | None = None
    """Its stdin; /dev/null by default."""
    errors: int | None = None
    """Its stderr, if not `output`."""
    hidden: frozenset[str] = frozenset()
    """Further files and folders of the workspace that it must not read."""
    readable: frozenset[str] = frozenset()
    """What was decided that it may read of the home, beside what it needs."""
    state: frozenset[str] = frozenset()
    """Files and folders outside the workspace that belong to the program: it may change them."""
    is_online: bool = False
    """Whether it needs the network to work at all."""


class Sandbox:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._views: dict[ViewKey, View] = {}
        self._guards: dict[str, AutorunGuard] = {}

    def __reduce__(self) -> tuple[type[Sandbox], tuple[Settings]]:
        """Another process probes its own machine."""
        return Sandbox, (self._settings,)

    @cached_property
    def kind(self) -> str:
        """`landlock`, `bubblewrap` or `none`."""
        return available_sandbox(self._settings.sandbox)

    @cached_property
    def capabilities(self) -> SandboxCapabilities:
        has_landlock = self.kind == "landlock"
        namespaces, watches_sockets = _LAUNCHER.probe() if has_landlock else ("", False)
        return SandboxCapabilities(
            kind=self.kind,
            landlock=landlock_version() if has_landlock else 0,
            namespaces=namespaces,
            seccomp=seccomp_works_here(),
            watches_sockets=watches_sockets,
            root=hasattr(os, "getuid") and os.getuid() == 0,
        )

    def guarantees(self) -> dict[Guarantee, str]:
        return guarantees(self.capabilities, self._settings)

    def missing_guarantees(self) -> list[str]:
        return missing_guarantees(self.capabilities)

    def allows_network(self, *, may_write: bool, asked: bool) -> bool:
        """Read-only roles never get network access."""
        choice = self._settings.sandbox_network
        return may_write and (choice == "allow" or (choice == "ask" and asked))

    @asynccontextmanager
    async def running(self, launch: Launch) -> AsyncIterator[ConfinedCommand]:
        """Run the command confined; on exit nothing of it is left running."""
        if "capabilities" not in self.__dict__:
            await asyncio.to_thread(lambda: self.capabilities)
        folder = self._scratch.work if launch.may_write else self._scratch.for_one_command()
        await asyncio.to_thread(self._scratch.refresh_git_settings)
        run: CommandSnapshot | None = None
        if launch.may_write:  # a read-only command cannot change autorun files
            begin = self._guard(launch.workspace).begin
            run = await asyncio.to_thread(begin, launch.opened)
        try:
            with _held(launch) as held:
                view = self._view(launch, held.workspace)
                spec = self._spec(launch, folder, view, run)
                if view:
                    held = replace(held, ruleset=view.ruleset.descriptor)
                command = await ConfinedCommand.start(_LAUNCHER, spec, held)
            try:
                yield command
            finally:
                await command.end()
        finally:
            if run:
                finishing = asyncio.to_thread(self._guard(launch.workspace).finish, run)
                launch.cleaned_up(await asyncio.shield(finishing))
            if not launch.may_write:
                shutil.rmtree(folder, ignore_errors=True)

    def bring_back(self, workspace: Workspace, batch: str) -> BroughtBack:
        """What was set aside after a command; blocks. FileNotFoundError if it is not kept."""
        return self._guard(workspace).bring_back(batch)

    def _guard(self, workspace: Workspace) -> AutorunGuard:
        root = str(workspace.root)
        if root not in self._guards:
            data, own_mounts = self._settings.data_dir, self.capabilities.own_mounts
            self._guards[root] = AutorunGuard(root, data, own_mounts=own_mounts)
        return self._guards[root]

    def close(self) -> None:
        for view in self._views.values():
            view.close()
        self._views.clear()
        if "_scratch" in self.__dict__:
            self._scratch.close()
            del self._scratch

    @cached_property
    def _scratch(self) -> Scratch:
        return Scratch()

    def _spec(
        self, launch: Launch, folder: Path, view: View | None, run: CommandSnapshot | None
    ) -> CommandSpec:
        """Without a view, bubblewrap does the confining."""
        network = self._network(launch)
        spec = CommandSpec(
            arguments=list(launch.arguments),
            environment={
                **launch.environment,
                **scratch_environment(
                    _as_seen(folder, self.capabilities.own_mounts), may_write=launch.may_write
                ),
                "GIT_CONFIG_GLOBAL": str(self._scratch.git_settings),
            },
            limits=self._limits,
            root=str(launch.workspace.root),
            folder=launch.path,
            namespaces=self.capabilities.namespaces,
            network=network,
        )
        read_only = run.read_only if run else []
        if view is None:
            return self._wrapped(spec, launch, read_only)
        return replace(
            spec,
            binds=[*view.binds, *read_only_mounts(read_only, spec.root, view.hidden)],
            empty=view.empty,
            filter=self._filter(network),
            watched=self.capabilities.own_sockets_only,
        )

    def _network(self, launch: Launch) -> bool:
        asked = self.allows_network(may_write=launch.may_write, asked=launch.network)
        return launch.is_online or asked

    def _filter(self, network: bool) -> str:
        if not self.capabilities.seccomp:
            return ""
        # Where other programs' sockets cannot be hidden, none can be opened.
        alone = self.capabilities.own_mounts
        allowed = allowed_families(internet=network or alone, unix=alone, others=network and alone)
        watched = self.capabilities.own_sockets_only
        return filter_program(allowed, watched=watched, own_names=alone).hex()

    def _view(self, launch: Launch, root: int) -> View | None:
        capabilities = self.capabilities
        if capabilities.kind == "bubblewrap":
            return None
        tcp = self._network(launch) or bool(capabilities.namespaces)
        key = ViewKey(
            may_write=launch.may_write,
            tcp=tcp,
            namespaces=capabilities.namespaces,
            version=capabilities.landlock,
            hidden=launch.hidden,
            readable=launch.readable,
            state=launch.state,
            program=launch.arguments[0],
        )
        view = self._views.get(key)
        if view is None or not view.is_current(root):
            if view is not None:
                self._views.pop(key).close()
            elif len(self._views) >= _MAX_VIEWS:
                self._views.pop(next(iter(self._views))).close()
            view = View(key, self._path_access(launch), self._scratch, root)
            self._views[key] = view
        return view

    def _wrapped(self, spec: CommandSpec, launch: Launch, read_only: list[str]) -> CommandSpec:
        program, paths = bubblewrap_program() or "bwrap", self._path_access(launch)
        arguments = bwrap_command(
            program,
            spec.arguments,
            binds=[
                *mounts(launch.may_write, paths, self._scratch),
                *read_only_mounts(read_only, spec.root, paths.hidden_below(spec.root)),
            ],
            empty=covered_with_nothing(paths),
            folder=str(launch.workspace.root / launch.path),
            network=spec.network,
        )
        # A filter (no_new_privs) would take away the rights of a set-user-id program.
        rules = "" if is_set_user_id(program) else self._filter(spec.network)
        return replace(spec, arguments=arguments, filter=rules, privileged=True)

    def _path_access(self, launch: Launch) -> PathAccess:
        database = str(self._settings.database)
        private = [
            str(self._settings.data_dir),
            *(f"{database}{ending}" for ending in ("", "-wal", "-shm", "-journal")),
            *filter(None, [os.environ.get("XDG_RUNTIME_DIR")]),
            *private_paths(self._settings.private),
            *launch.hidden,
        ]
        root, homes = str(launch.workspace.root), find_homes(os.environ)
        programs = [sys.prefix, sys.base_prefix, _PACKAGE, str(self._scratch.git_settings)]
        added = [*self._settings.sandbox_read, *launch.readable]
        needed = needed_at_home(homes, os.environ, launch.arguments[0], added)
        closed = {os.path.realpath(path) for path in private}
        at_home = {path: real for path, real in needed.items() if not is_inside_any(real, closed)}
        state = sorted(launch.state - shared_folders(homes))
        kept = [root, *programs, *at_home.values(), *state]
        for home in homes:
            private += closed_parts(home, kept, is_open=is_inside(home, root))
        return find_path_access(root, homes, private, programs, state, at_home)

    @cached_property
    def _limits(self) -> ProcessLimits:
        settings = self._settings
        return ProcessLimits(
            memory=settings.sandbox_memory_mb * _MEBIBYTE or _machine_memory() // 2,
            file_size=settings.sandbox_file_mb * _MEBIBYTE,
            processes=settings.sandbox_processes,
        )


@contextmanager
def _held(launch: Launch) -> Iterator[Descriptors]:
    """Everything handed to the command except the ruleset."""
    root = hold(launch.workspace.root)
    try:
        with Path(os.devnull).open("rb") as nothing:
            yield Descriptors(
                input=nothing.fileno() if launch.input is None else launch.input,
                output=launch.output,
                errors=launch.output if launch.errors is None else launch.errors,
                workspace=root,
                folder=launch.folder,
            )
    finally:
        os.close(root)


def available_sandbox(choice: SandboxChoice) -> str:
    """The chosen sandbox if it works here, else `none`."""
    if choice in ("auto", "landlock") and landlock_version() > 0:
        return "landlock"
    if choice in ("auto", "bubblewrap") and bubblewrap_program() is not None:
        return "bubblewrap"
    return "none"


def _as_seen(folder: Path, own_mounts: bool) -> str:
    if not own_mounts:
        return str(folder)
    return "/tmp" if folder.name == "work" else f"/tmp/{folder.name}"  # noqa: S108 - its own


def _machine_memory() -> int:
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limit = Path("/sys/fs/cgroup/memory.max")
    allowed = limit.read_text().strip() if limit.exists() else ""
    return min(total, int(allowed)) if allowed.isdigit() else total
