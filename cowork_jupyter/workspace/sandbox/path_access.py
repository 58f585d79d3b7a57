"""Which paths commands may see and change, and which they must not.

Landlock knows only what is allowed. To leave out one folder, everything beside it is allowed by
itself: `split_around` finds those. The folder that is split that way can still be listed.

Lists of secrets are never complete: every tool keeps its keys somewhere else. So homes are closed,
and `NEEDED` is the list of what is open in them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
class PathAccess:
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
            if is_inside_any(path, self.hidden):
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


def find_path_access(
    root: str,
    homes: Sequence[str],
    private: Sequence[str],
    programs: Sequence[str],
    state: Sequence[str] = (),
    at_home: Mapping[str, str] | None = None,
) -> PathAccess:
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
    return PathAccess(
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


def is_inside_any(path: str, folders: Iterable[str]) -> bool:
    return any(is_inside(path, folder) for folder in folders)


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


NEEDED = (
    # Programs and packages, and the versions that version managers keep
    *(".local/bin", ".local/lib", ".local/share/uv/python", ".local/share/uv/tools"),
    *(".local/share/pipx/venvs", ".local/pipx/venvs", ".local/share/virtualenvs", ".virtualenvs"),
    *(".pyenv", ".nvm", ".rbenv", ".asdf/installs", ".asdf/shims", ".sdkman/candidates", ".volta"),
    *("miniconda3", "anaconda3", "miniforge3", "mambaforge", ".conda/envs", ".conda/pkgs"),
    *(".rustup/toolchains", ".rustup/settings.toml", ".cargo/bin", ".cargo/registry", "go/pkg"),
    *(".juliaup", ".julia/packages", ".julia/artifacts", ".julia/compiled", ".julia/registries"),
    *("R", ".m2/repository", ".gradle/caches", ".npm/_cacache", ".nix-profile"),
    *(".local/share/jupyter/kernels", ".local/share/jupyter/nbconvert"),
    # Caches, and data sets that libraries fetch
    *(".cache/pip", ".cache/uv", ".cache/matplotlib", ".cache/ms-playwright", ".cache/torch"),
    *(".cache/huggingface/hub", ".cache/huggingface/datasets", ".cache/yarn", ".cache/go-build"),
    *("nltk_data", "scikit_learn_data", "seaborn-data", ".keras/datasets", ".keras/models"),
    # Looks and languages
    *(".fonts", ".local/share/fonts", ".config/fontconfig", ".cache/fontconfig"),
    *(".config/matplotlib", ".config/locale.conf", ".local/share/locale"),
    *(".config/git/ignore", ".config/git/attributes"),
)  # fmt: skip

_PATHS = (
    *("PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "CONDA_PREFIX", "LD_LIBRARY_PATH"),
    *("R_HOME", "R_LIBS", "R_LIBS_USER", "JULIA_DEPOT_PATH", "JAVA_HOME", "SPARK_HOME"),
    *("CUDA_HOME", "PKG_CONFIG_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"),
)  # fmt: skip
"""Variables that commands inherit and that name what they need."""
_INSTALLATION = ("bin", "lib", "lib64", "libexec", "include", "share", "ssl", "conda-meta")
_OF_ENVIRONMENT = "pyvenv.cfg"


def find_homes(environment: Mapping[str, str]) -> list[str]:
    """The user's home first, then those of others, which root could read too."""
    own = [environment.get("HOME", ""), os.path.expanduser("~"), "/root"]  # noqa: PTH111
    with contextlib.suppress(OSError), os.scandir("/home") as entries:
        own += [entry.path for entry in entries if entry.is_dir()]
    resolved = dict.fromkeys(os.path.realpath(home) for home in own if home)
    return [home for home in resolved if home != "/"]


def shared_folders(homes: Iterable[str]) -> set[str]:
    """Where many programs keep what is theirs, so that none of them can call it its own."""
    names = ("", "/.config", "/.local", "/.local/share", "/.local/state", "/.cache")
    return {f"{home}{name}" for home in homes for name in names}


def needed_at_home(
    homes: Sequence[str],
    environment: Mapping[str, str],
    program: str,
    added: Iterable[str],
) -> dict[str, str]:
    """What a program needs of homes, and what the user has `added`: each path, and where it leads.

    Nothing that has a whole home in it.
    """
    named = [path for name in _PATHS for path in environment.get(name, "").split(os.pathsep)]
    wanted = [f"{homes[0]}/{name}" for name in NEEDED] if homes else []
    wanted += [*filter(os.path.isabs, named), *_installation_of(program, homes)]
    for folder in environment.get("PATH", "").split(os.pathsep):
        wanted += _around(folder, homes)
    wanted += [os.path.normpath(os.path.expanduser(path)) for path in added]  # noqa: PTH111
    resolved = {path: os.path.realpath(path) for path in sorted(wanted)}
    return {
        path: real
        for path, real in resolved.items()
        if _exists_in(homes, path, real) and not any(is_inside(home, real) for home in homes)
    }


def _exists_in(homes: Sequence[str], path: str, real: str) -> bool:
    inside = any(is_inside(either, home) for home in homes for either in (path, real))
    return inside and os.path.exists(real)  # noqa: PTH110


def _installation_of(program: str, homes: Sequence[str]) -> Iterator[str]:
    """A program, and the installation that it belongs to, by its name and where that leads."""
    for path in dict.fromkeys((program, os.path.realpath(program))):
        yield path
        yield from _around(os.path.dirname(path), homes)  # noqa: PTH120


def _around(programs: str, homes: Sequence[str]) -> Iterator[str]:
    """What belongs to a folder of programs; the folder above it may hold anything, such as keys."""
    prefix = os.path.dirname(programs)  # noqa: PTH120
    if os.path.isdir(f"{prefix}/lib") and prefix not in shared_folders(homes):  # noqa: PTH112
        yield from (f"{prefix}/{name}" for name in (*_INSTALLATION, _OF_ENVIRONMENT))


def closed_parts(home: str, kept: Sequence[str], *, is_open: bool) -> Iterator[str]:
    """What a name with a dot in a home leads to, without what is kept of it.

    Only what is elsewhere, unless the home `is_open` because it is in the workspace.
    """
    with contextlib.suppress(OSError), os.scandir(home) as entries:
        for path in [os.path.realpath(entry) for entry in entries if entry.name.startswith(".")]:
            if is_inside(path, home) and is_open:
                yield from (part for part, is_split in split_around(path, kept) if not is_split)
            elif not is_inside(path, home) and not any(is_inside(place, path) for place in kept):
                yield path
