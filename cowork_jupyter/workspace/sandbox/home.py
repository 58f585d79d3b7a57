"""What commands see of home folders: what they need to run, and nothing else.

Lists of secrets are never complete: every tool keeps its keys somewhere else. So homes are closed,
and this is the list of what is open in them.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence

from .places import is_inside, split_around

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
    found = dict.fromkeys(os.path.realpath(home) for home in own if home)
    return [home for home in found if home != "/"]


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
    found = {path: os.path.realpath(path) for path in sorted(wanted)}
    return {
        path: real
        for path, real in found.items()
        if _is_in(homes, path, real) and not any(is_inside(home, real) for home in homes)
    }


def _is_in(homes: Sequence[str], path: str, real: str) -> bool:
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


# --- git's settings of the user

_HARMLESS_SECTIONS = frozenset(
    (
        *("advice", "apply", "branch", "color", "column", "commit", "core", "diff", "fetch"),
        *("filter", "format", "gc", "grep", "help", "i18n", "index", "init", "log", "merge"),
        *("notes", "pull", "push", "rebase", "rerere", "safe", "status", "tag", "user"),
    )
)
_SECRETIVE = ("sign", "gpg", "token", "pass", "secret", "key", "auth", "cred", "header")


def git_settings_mark(home: str) -> tuple[int, ...]:
    """Changes when the user's settings do."""
    mark = list[int]()
    for path in _git_settings_files(home):
        with contextlib.suppress(OSError):
            facts = os.stat(path)  # noqa: PTH116
            mark += [facts.st_ino, facts.st_size, facts.st_mtime_ns]
    return tuple(mark)


def git_settings(home: str) -> str:
    """The user's settings for git without credentials, and without what names other programs."""
    return "".join(map(_without_credentials, _git_settings_files(home)))


def _git_settings_files(home: str) -> Iterator[str]:
    paths = (f"{home}/.config/git/config", f"{home}/.gitconfig")
    return filter(os.path.isfile, paths)


def _without_credentials(path: str) -> str:
    command = ["git", "config", "--file", path, "--no-includes", "--null", "--list"]
    try:
        listed = subprocess.run(command, capture_output=True, check=True, timeout=10)  # noqa: S603
    except (OSError, subprocess.SubprocessError):  # no git, or nothing that it could read
        return ""
    lines = []
    for entry in listed.stdout.decode(errors="replace").split("\0"):
        name, is_set, value = entry.partition("\n")
        section, _, rest = name.partition(".")
        subsection, _, key = rest.rpartition(".")
        if section not in _HARMLESS_SECTIONS or any(word in name.lower() for word in _SECRETIVE):
            continue
        if "://" in value or ("@" in value and name != "user.email"):
            continue
        header = f"{section} {_quoted(subsection)}" if subsection else section
        lines.append(f"[{header}]\n\t{key}{f' = {_quoted(value)}' if is_set else ''}\n")
    return "".join(lines)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
