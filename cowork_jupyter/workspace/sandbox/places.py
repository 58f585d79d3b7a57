"""Which paths commands may see and change, and which hold secrets.

Landlock knows only what is allowed. To leave out one folder, everything beside it is allowed by
itself: `split_around` finds those. The folder that is split that way can still be listed.
"""

from __future__ import annotations

import contextlib
import os
import site
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_SECRET_AT_HOME = (
    *(".ssh", ".gnupg", ".pki", ".password-store", ".aws", ".azure", ".oci", ".boto", ".s3cfg"),
    *(".config/gcloud", ".config/gh", ".config/hub", ".config/glab-cli", ".config/doctl"),
    *(".config/rclone", ".config/op", ".config/Bitwarden", ".config/git/credentials"),
    *(".config/containers/auth.json", ".config/huggingface", ".cache/huggingface/token"),
    *(".cache/huggingface/stored_tokens", ".huggingface", ".kaggle", ".config/kaggle"),
    *(".netrc", "_netrc", ".pypirc", ".npmrc", ".yarnrc.yml", ".git-credentials", ".pgpass"),
    *(".my.cnf", ".mylogin.cnf", ".databrickscfg", ".dbt", ".snowflake", ".snowsql", ".wandb"),
    *(".docker", ".kube", ".minikube", ".helm", ".config/helm", ".terraform.d", ".vault-token"),
    *(".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml"),
    *(".m2/settings-security.xml", ".gradle/gradle.properties"),
    *(".continuum", ".local/share/keyrings", ".local/share/kwalletd", ".config/kwalletrc"),
    *(".local/share/python_keyring", ".config/python_keyring", ".Xauthority", ".ICEauthority"),
    *(".local/share/jupyter/runtime", ".ipython/profile_default/security"),
    *(".local/share/jupyter/notebook_secret", ".local/share/jupyter/jupyter_cookie_secret"),
    *(".jupyter/jupyter_server_config.json", ".jupyter/jupyter_server_config.py"),
    *(".jupyter/jupyter_notebook_config.json", ".jupyter/jupyter_notebook_config.py"),
    *(".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium"),
    *(".config/BraveSoftware", ".config/microsoft-edge", ".config/vivaldi", ".config/opera"),
    *("snap/firefox", "snap/chromium", ".var/app", ".bash_history", ".zsh_history"),
    *(".config/Code/User/globalStorage", ".claude", ".codex", ".config/github-copilot"),
)  # fmt: skip
"""Keys, tokens, tickets, key rings, browser profiles, shell histories."""

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

_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts")
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
    """Must be readable wherever it is: the workspace, the home, our Python."""
    holds_home: bool
    state: tuple[str, ...] = ()
    """What a program may change beside the workspace, because it is its own."""

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
) -> Places:
    """Inspect the machine. `private` is what else must not be read, such as our own records.

    The first of the homes is the user's own.
    """
    secrets = [f"{home}/{name}" for home in homes for name in _SECRET_AT_HOME]
    own = tuple(_real(state))
    needed = tuple(dict.fromkeys(map(os.path.realpath, (root, *programs, *homes[:1], *own))))
    hidden = [
        path
        for path in _real([*_SECRET_ELSEWHERE, *secrets, *private])
        # What contains the workspace or our Python cannot be left out as a whole.
        if path in _SECRET_ELSEWHERE
        or not any(is_inside(needed_path, path) for needed_path in needed)
    ]
    inside = [home for home in homes if is_inside(home, root)]
    start_up = _real([f"{home}/{name}" for home in homes for name in START_UP_FILES])
    kept = [
        path
        for path in start_up
        if any(is_inside(path, place) and path != place for place in (root, *own))
    ]
    return Places(root, tuple(hidden), tuple(kept), needed, bool(inside), own)


def private_paths(private: Mapping[Path, frozenset[str]]) -> Iterator[str]:
    """What must not be read of these: all, or what is there now beside the readable names."""
    for path, readable in private.items():
        if not readable:
            yield str(path)
            continue
        with contextlib.suppress(OSError), os.scandir(path) as entries:
            yield from (entry.path for entry in entries if entry.name not in readable)


def find_homes(environment: Mapping[str, str]) -> list[str]:
    """The user's home first, then those of others, which root could read too."""
    own = [environment.get("HOME", ""), os.path.expanduser("~"), "/root"]  # noqa: PTH111
    with contextlib.suppress(OSError), os.scandir("/home") as entries:
        own += [entry.path for entry in entries if entry.is_dir()]
    found = dict.fromkeys(os.path.realpath(home) for home in own if home)
    return [home for home in found if home != "/"]


def other_home_entries(homes: Iterable[str], kept: Sequence[str]) -> Iterator[str]:
    for home in homes:
        if any(is_inside(home, folder) for folder in kept):
            continue
        with contextlib.suppress(OSError), os.scandir(home) as entries:
            for entry in entries:
                yield from (
                    path for path, is_split in split_around(entry.path, kept) if not is_split
                )


def prefixes_of(python: str) -> tuple[str, ...]:
    """Where an interpreter's packages are: its environment, the base of that, the user site."""
    own, base = (Path(path).parent.parent for path in (python, os.path.realpath(python)))
    return str(own), str(base), *filter(None, [site.USER_SITE or site.getusersitepackages()])


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
