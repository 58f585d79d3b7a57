"""Protected places, which ask on every change, and secret files, by all their names.

Protected is what runs automatically later (hooks, start-up files, kernel specs), what controls this
program (its settings, its own code), or secrets, whether it exists yet or not. No rule allows it.
Reading secrets asks, too; code that runs without approval finds them empty (`hidden_files`). A hard
link is the same file, so what covers one name covers them all.
"""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice, pairwise
from pathlib import Path

from ..workspace.start_up import ENVIRONMENT_MARKS, HARMLESS, known_start_up, start_up
from .paths import AnchorDirs, Target, pattern_of, relative_to
from .rules import Rule, matches_path
from .shell.model import names

_FileId = tuple[int, int]
_MAX_INSIDE = 50_000
"""Files in covered folders that are looked at."""
_MAX_WALKED = 500_000
"""Entries of the workspace among which other names are searched."""


def has_other_names(path: str) -> bool:
    try:
        return _is_linked(os.lstat(path))
    except (OSError, ValueError):
        return False


def other_names(covered: Collection[str], root: str) -> dict[str, int]:
    """Names below the root of files that have one among these, or in a folder among these.

    Each with its inode. Almost always no such file has a second name, and nothing is searched.
    """
    missing, names = _names_elsewhere(covered), dict[str, int]()
    inodes = {inode for _, inode in missing}
    for entry in islice(_walk(root, covered), _MAX_WALKED) if missing else ():
        if entry.inode() not in inodes or not entry.is_file(follow_symlinks=False):
            continue
        facts = entry.stat(follow_symlinks=False)
        file = facts.st_dev, facts.st_ino
        if file in missing:
            names[entry.path] = facts.st_ino
            missing[file] -= 1
            if not any(missing.values()):
                break
    return names


def _names_elsewhere(covered: Collection[str]) -> dict[_FileId, int]:
    """How many further names each file has that has any."""
    missing = dict[_FileId, int]()
    for facts in _files(covered):
        if _is_linked(facts):
            file = facts.st_dev, facts.st_ino
            missing[file] = missing.get(file, facts.st_nlink) - 1
    return {file: names for file, names in missing.items() if names > 0}


def _is_linked(facts: os.stat_result) -> bool:
    return stat.S_ISREG(facts.st_mode) and facts.st_nlink > 1


def _files(covered: Iterable[str]) -> Iterator[os.stat_result]:
    """These files, then those in these folders."""
    folders = list[str]()
    for path in covered:
        try:
            facts = os.lstat(path)
        except OSError:  # gone
            continue
        if stat.S_ISDIR(facts.st_mode):
            folders.append(path)
        else:
            yield facts
    inside = (entry for folder in folders for entry in _walk(folder))
    for entry in islice(inside, _MAX_INSIDE):
        try:
            yield entry.stat(follow_symlinks=False)
        except OSError:
            continue


def _walk(top: str, closed: Collection[str] = ()) -> Iterator[os.DirEntry[str]]:
    """All entries but those that are closed, and what is in these."""
    waiting = [top]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                listed = [entry for entry in entries if entry.path not in closed]
        except OSError:
            continue
        waiting += (entry.path for entry in listed if entry.is_dir(follow_symlinks=False))
        yield from listed


_VERSION_CONTROL = "version control keeps its hooks and history there"
_ALSO = {
    ".hg": _VERSION_CONTROL,
    ".svn": _VERSION_CONTROL,
    ".gitconfig": "git runs programs named there",
    ".gitmodules": "git fetches and runs what is named there",
    ".gitattributes": "git runs filters named there",
}
"""A command may change these, because git does."""
_JUPYTER_FOLDERS = {("share", "jupyter"), ("etc", "jupyter"), ("library", "jupyter")}
"""Settings and data of Jupyter and Cowork in a workspace that is a home folder."""

_SECRET_FOLDERS = names("""
    .mozilla .thunderbird google-chrome chromium .password-store .ssh .aws .azure .gnupg .kube
    .docker keyrings gcloud
    """)
_SECRET_FILES = names("""
    .netrc _netrc .pgpass .my.cnf .pypirc .npmrc .git-credentials .env .envrc .htpasswd
    .dockercfg .databrickscfg .s3cfg .boto credentials credentials.json client_secret.json
    service_account.json secrets.json secrets.yaml secrets.yml secrets.toml kaggle.json
    token.json .bash_history .zsh_history .python_history .psql_history jupyter_cookie_secret
    id_rsa id_dsa id_ecdsa id_ed25519 .vault-token
    """)
_SECRET_ENDINGS = (".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".gpg", ".asc")

_PACKAGE = str(Path(__file__).resolve().parent.parent)


def protection(target: Target, root: str = "") -> str | None:
    """Why changing this asks; None if it is not protected.

    Below the root, hidden names are protected too, unless they are known to be harmless.
    """
    for path in target.spellings:
        if why := _why_protected(path) or _why_hidden(path, root):
            return why
    return None


def is_secret(target: Target) -> bool:
    return any(_is_secret(path) for path in target.spellings)


def _why_protected(path: str) -> str | None:
    if relative_to(path, _PACKAGE) is not None:
        return "it is part of Cowork itself"
    names = _names(path)
    for name in names:
        if why := known_start_up(name) or _ALSO.get(name):
            return why
    if {"jupyter", "kernels"} <= set(names):
        return "Jupyter starts programs named in kernel specs"
    if any(pair in _JUPYTER_FOLDERS for pair in pairwise(names)):
        return "Jupyter and Cowork keep what they run and whom they trust there"
    if {"fish", "autostart", "systemd"} & set(names[:-1]) and ".config" in names:
        return "it runs automatically when a shell or session starts"
    return "secrets are kept there" if _is_secret(path) else None


def _why_hidden(path: str, root: str) -> str | None:
    below = relative_to(path, root) if root else None
    names = _names(below) if below not in (None, ".") else []
    return next(filter(None, map(start_up, names)), None)


@lru_cache(maxsize=100_000)
def _is_secret(path: str) -> bool:
    # Cached, because `hidden_files` looks at the same names each time that code runs.
    names = _names(path)
    last = names[-1] if names else ""
    if _SECRET_FOLDERS.intersection(names) or last in _SECRET_FILES:
        return True
    if ("jupyter", "runtime") in pairwise(names):
        return True  # the tokens of running servers
    if last.startswith(".env.") and last not in HARMLESS:
        return True
    return last.endswith(_SECRET_ENDINGS)


def _names(path: str) -> list[str]:
    """The path's names as a lenient file system would compare them."""
    plain = path.casefold() if path.isascii() else _folded(path)
    return [name.rstrip(". ") or name for name in plain.split("/") if name]


def _folded(path: str) -> str:
    """Also drop invisible characters: some file systems take `.g\u200cit` for `.git`."""
    seen = "".join(char for char in path if unicodedata.category(char) != "Cf")
    return unicodedata.normalize("NFKC", seen).casefold()


_NOT_ENTERED = frozenset({".git", "node_modules", "__pycache__"})
"""Published, or derived from what is beside it."""
_INSTALLED = _NOT_ENTERED | {"lib", "lib64", "include", "share", "pkgs"}
"""The same in an environment, whose packages bring certificates of their own."""


def hidden_files(anchors: AnchorDirs, rules: Sequence[Rule]) -> dict[str, int]:
    """Files and whole folders that are secret, or that one of the rules covers, by any name.

    Each with its inode: a replacement is another one, and has to be hidden again.
    """
    return _with_other_names(_covered_files(anchors, rules, secrets=True), anchors, rules)


def covered_by_another_name(
    paths: Iterable[str], anchors: AnchorDirs, rules: Sequence[Rule] = ()
) -> set[str]:
    """Which of these are names of files that one of the rules covers; without rules, of secret
    ones.
    """
    linked = set(filter(has_other_names, paths))
    if not linked:
        return linked
    covered = _covered_files(anchors, rules, secrets=not rules)
    return linked & _with_other_names(covered, anchors, rules).keys()


def _with_other_names(
    covered: dict[str, int], anchors: AnchorDirs, rules: Sequence[Rule]
) -> dict[str, int]:
    named = (pattern_of(rule.pattern or "").literal(anchors) for rule in rules if not rule.is_bare)
    elsewhere = [path for path in named if path and relative_to(path, anchors.root) is None]
    return covered | other_names({*covered, *elsewhere}, anchors.root)


def _covered_files(anchors: AnchorDirs, rules: Sequence[Rule], *, secrets: bool) -> dict[str, int]:
    about = [rule for rule in rules if not rule.is_bare]
    inodes, waiting = dict[str, int](), [anchors.root]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                listed = list(entries)
        except OSError:  # what we cannot read, the code cannot either
            continue
        is_environment = ENVIRONMENT_MARKS.intersection(entry.name for entry in listed)
        closed = _INSTALLED if is_environment else _NOT_ENTERED
        for entry in listed:
            if (secrets and _is_secret_entry(entry, anchors)) or _is_covered(entry, about, anchors):
                inodes[entry.path] = entry.inode()
            elif entry.is_dir(follow_symlinks=False) and entry.name not in closed:
                waiting.append(entry.path)
    return inodes


def _is_secret_entry(entry: os.DirEntry[str], anchors: AnchorDirs) -> bool:
    # A file is judged by its name, because all folders above it were checked; a folder by its path
    # in the workspace.
    is_folder = entry.is_dir(follow_symlinks=False)
    return _is_secret(entry.path[len(anchors.root) :] if is_folder else f"/{entry.name}")


def _is_covered(entry: os.DirEntry[str], rules: Sequence[Rule], anchors: AnchorDirs) -> bool:
    target = Target(entry.path, entry.path)
    return any(matches_path(rule, target, anchors) for rule in rules)
