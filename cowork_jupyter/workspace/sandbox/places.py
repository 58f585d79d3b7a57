"""Which paths commands may see and change, and which they must not; homes are in `home.py`.

Landlock knows only what is allowed. To leave out one folder, everything beside it is allowed by
itself: `split_around` finds those. The folder that is split that way can still be listed.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_SECRET_ELSEWHERE = (
    *("/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers"),
    *("/etc/sudoers.d", "/etc/ssl/private", "/etc/krb5.keytab", "/etc/kubernetes"),
    *("/run", "/var/run", "/var/lib/kubelet", "/var/lib/docker", "/var/lib/sss/secrets"),
    *("/tmp", "/var/tmp", "/dev", "/boot", "/lost+found"),  # noqa: S108 - kept away, not used
)
"""Not only secrets: /run and /tmp hold the sockets of other programs, /dev the disks."""

_NEEDED_OF_RUN = (
    *("/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf"),
    *("/run/nscd", "/run/current-system", "/run/opengl-driver", "/run/wrappers"),
)
"""Name resolution, and where some systems keep their programs."""

_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
"""No terminals: those of other programs are among them."""
_GRAPHICS = ("nvidia", "dri", "kfd", "dxg")

START_UP_FILES = (
    *(".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile"),
    *(".zshrc", ".zshenv", ".zprofile", ".zlogin", ".kshrc", ".inputrc", ".xprofile", ".xinitrc"),
    *(".config/fish", ".config/autostart", ".config/systemd", ".config/environment.d"),
    *(".local/bin", ".local/lib", ".local/share/jupyter", ".local/share/applications"),
    *(".gitconfig", ".config/git", ".vimrc", ".vim", ".config/nvim", ".emacs", ".emacs.d"),
    *(".condarc", ".config/pip", ".pip", ".pythonrc.py", ".config/matplotlib"),
    *(".pam_environment", ".vscode", ".config/Code", ".cowork", ".jupyter", ".ipython"),
)  # fmt: skip
"""These run automatically one day: in a home folder commands may read but not change them."""


@dataclass(frozen=True)
class Places:
    """Paths on this machine for commands of one workspace, all resolved."""

    root: str
    hidden: tuple[str, ...]
    """Must not be read, except what is `needed` inside. Listed whether it exists or not: what is
    created later must not be readable because a folder above it already was."""
    protected: tuple[str, ...]
    """Must not be changed in a home folder, whether it exists or not; see also `autorun`."""
    needed: tuple[str, ...]
    """Must be readable wherever it is: the workspace, our Python, what is needed of the home."""
    holds_home: bool
    state: tuple[str, ...] = ()
    """What a program may change beside the workspace, because it is its own."""
    homes: tuple[str, ...] = ()
    """Home folders that are covered whole."""
    at_home: Mapping[str, str] = field(default_factory=dict)
    """What is needed in them, by its path, and where that really is."""

    def readable(self) -> Iterator[tuple[str, bool]]:
        """Paths, and for each whether it is a split folder that may only be listed."""
        yield from split_around("/", self.hidden)
        for path in self.needed:
            if any(is_inside(path, place) for place in self.hidden):
                yield from split_around(path, self.hidden_below(path))

    def hidden_below(self, folder: str) -> tuple[str, ...]:
        """What is hidden inside a folder, but not the folder itself."""
        return tuple(path for path in self.hidden if is_inside(path, folder) and path != folder)

    def writable_parts(self) -> Iterator[tuple[str, bool]]:
        yield from split_around(self.root, (*self.hidden_below(self.root), *self.protected))

    def state_parts(self) -> Iterator[tuple[str, bool]]:
        """`state` without hidden and protected parts. Containing the workspace does not open it."""
        for path in self.state:
            yield from split_around(path, (self.root, *self.hidden_below(path), *self.protected))


def find_places(
    root: str,
    homes: Sequence[str],
    private: Sequence[str],
    programs: Sequence[str],
    state: Sequence[str] = (),
    at_home: Mapping[str, str] | None = None,
) -> Places:
    """Inspect the machine. `private` is what must not be read wherever it is, such as our records.

    Homes are hidden but for what is `at_home`.
    """
    at_home = at_home or {}
    own = tuple(_real(state))
    needed = tuple(
        dict.fromkeys((*map(os.path.realpath, (root, *programs)), *at_home.values(), *own))
    )
    covered = tuple(home for home in homes if not is_inside(home, root))
    hidden = [
        path
        for path in _real([*_SECRET_ELSEWHERE, *covered, *private])
        # What contains the workspace or our Python cannot be left out as a whole.
        if path in (*_SECRET_ELSEWHERE, *covered)
        or not any(is_inside(needed_path, path) for needed_path in needed)
    ]
    start_up = _real([f"{home}/{name}" for home in homes for name in START_UP_FILES])
    kept = [
        path
        for path in start_up
        if any(is_inside(path, place) and path != place for place in (root, *own))
    ]
    return Places(
        root,
        tuple(hidden),
        tuple(kept),
        needed,
        holds_home=len(covered) < len(homes),
        state=own,
        homes=covered,
        at_home=at_home,
    )


def private_paths(private: Mapping[Path, frozenset[str]]) -> Iterator[str]:
    """What must not be read of these: all, or what is there now beside the readable names."""
    for path, readable in private.items():
        if not readable:
            yield str(path)
            continue
        with contextlib.suppress(OSError), os.scandir(path) as entries:
            yield from (entry.path for entry in entries if entry.name not in readable)


def is_inside(path: str, folder: str) -> bool:
    """Whether the path is the folder or below it, by whole components."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def split_around(folder: str, holes: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """The parts of a folder beside the holes, each with whether it is a split folder."""
    if folder in holes:
        return
    below = [hole for hole in holes if is_inside(hole, folder)]
    if not below:
        yield folder, False
        return
    yield folder, True
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if not entry.is_symlink()]
    except OSError:
        return
    for name in names:
        yield from split_around(f"{folder.rstrip('/')}/{name}", below)


def devices() -> list[str]:
    """The harmless devices and GPUs."""
    names = [path.name for path in Path("/dev").iterdir()]
    wanted = [name for name in names if name in _DEVICES or name.startswith(_GRAPHICS)]
    return [f"/dev/{name}" for name in wanted]


def needed_in_run() -> list[str]:
    """What commands need of the otherwise hidden /run."""
    return [path for path in _NEEDED_OF_RUN if os.path.exists(path)]  # noqa: PTH110


def _real(paths: Sequence[str]) -> list[str]:
    return sorted({os.path.realpath(path) for path in paths})
