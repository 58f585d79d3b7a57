"""What the disk says about a command and its words do not: files it finds, and git's settings.

`grep -r x .` would read `.env` as well, so the files are listed before such a command is decided
about. What git stores of a file counts as published, and is not checked.

`git status` starts `core.fsmonitor`, `git diff` a text converter, and both come with the folder. So
the settings of a repository may contain only what is known to start nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .paths import AnchorDirs, Target, target_of
from .shell import SimpleCommand
from .shell.programs import program_name

MAX_FILES = 5000
"""With more files than this the command asks."""

_GREPS = {"grep", "egrep", "fgrep", "zgrep", "bzgrep", "xzgrep", "diff"}
_SEARCHERS = {"rg", "ag", "ack", "ugrep", "ug"}
_RECURSE = {"--recursive", "--dereference-recursive", "--directories=recurse", "recurse"}
_HIDDEN_TOO = {"--hidden", "--no-ignore", "--unrestricted", "--all", "-."}
_FOLLOW = {"--follow", "--dereference-recursive"}


@dataclass(frozen=True)
class Tree:
    files: tuple[Target, ...]
    complete: bool


def tree_read_by(command: SimpleCommand, folder: str, anchors: AnchorDirs) -> Tree | None:
    """What a command would read beside the files that it names; None if nothing."""
    argv = next(filter(_searches, filter(None, (command.words, *command.nested))), None)
    if argv is None:
        return None
    named = [target_of(anchors, word, folder).real for word in argv[1:] if word[:1] != "-"]
    tops = [word for word in named if os.path.isdir(word)] or [folder]  # noqa: PTH112
    entries = (entry for top in tops for entry in _walk(top, hidden=_sees_hidden(argv)))
    follow = _has(argv, "RL", _FOLLOW)
    files = list[Target]()
    for entry in entries:
        if len(files) >= MAX_FILES:
            return Tree(tuple(files), complete=False)
        if not entry.is_symlink():
            files.append(Target(entry.path, entry.path))
        elif follow:
            files.append(target_of(anchors, entry.path))
    return Tree(tuple(files), complete=True)


def _searches(argv: tuple[str, ...]) -> bool:
    name = program_name(argv[0])
    return name in _SEARCHERS or (name in _GREPS and _has(argv, "rR", _RECURSE))


def _sees_hidden(argv: tuple[str, ...]) -> bool:
    return program_name(argv[0]) in _GREPS or _has(argv, "u.", _HIDDEN_TOO)


def _has(argv: tuple[str, ...], short: str, long: set[str]) -> bool:
    """Whether one of these flags is given. A value that looks like one counts: that asks too
    often.
    """
    flags = [word for word in argv[1:] if word.startswith("-") and not word.startswith("--")]
    return any(set(short) & set(flag) for flag in flags) or bool(long.intersection(argv))


def _walk(top: str, *, hidden: bool) -> Iterator[os.DirEntry[str]]:
    waiting = [top]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as listed:
                entries = [entry for entry in listed if hidden or not entry.name.startswith(".")]
        except OSError:  # what we cannot read, the command cannot either
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
            else:
                yield entry


MAX_SIZE = 200_000

_HARMLESS = {
    "core": """repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode
        symlinks autocrlf eol safecrlf quotepath longpaths compression untrackedcache abbrev
        sharedrepository trustctime checkstat preloadindex bigfilethreshold""",
    "remote": "url pushurl fetch push tagopt prune mirror skipdefaultupdate gh-resolved",
    "branch": "remote merge rebase description pushremote autosetuprebase vscode-merge-base",
    "user": "name email signingkey useconfigonly",
    "author": "name email",
    "committer": "name email",
    "submodule": "url active update ignore branch fetchrecursesubmodules recurse",
    "init": "defaultbranch",
    "pull": "rebase ff",
    "push": "default autosetupremote followtags",
    "fetch": "prune prunetags parallel",
    "merge": "conflictstyle ff renames",
    "color": "ui status diff branch",
    "gc": "auto autopacklimit pruneexpire",
    "pack": "threads windowmemory packsizelimit",
    "rerere": "enabled autoupdate",
    "status": "showuntrackedfiles submodulesummary",
    "index": "version threads",
    "lfs": "repositoryformatversion url access locksverify",
}
_KNOWN = {(section, key) for section, keys in _HARMLESS.items() for key in keys.split()}
_SECTION = re.compile(r'\[(?P<name>[A-Za-z0-9-]+)(?:[ \t]+"(?:[^"\\]|\\.)*")?\][ \t]*(?P<rest>.*)')
_KEY = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=.*)?")
_PLAIN = re.compile(r"[^\s\"'\\#;]+")
_HOOKS = ("post-index-change", "reference-transaction")
"""Hooks that even reading commands may start."""

PROGRAMS = "this repository's settings may name programs that git would start"
HOOK = "this repository has a hook that git would start"
ELSEWHERE = "this repository's settings are somewhere else"


def doubt_about_git(folder: str) -> str | None:
    """Why git asks in this folder; None if it need not."""
    repository = _find_repository(Path(folder))
    if repository is None:
        return None
    if not repository.is_dir():
        return ELSEWHERE
    settings = (repository / "config", repository / "config.worktree")
    if not all(map(_is_harmless, settings)) or (repository / "commondir").exists():
        return PROGRAMS
    hooks = (repository / "hooks" / name for name in _HOOKS)
    return HOOK if any(os.path.lexists(hook) for hook in hooks) else None


def addresses_of(remote: str, folder: str) -> list[str]:
    """The addresses of a remote, to fetch and to push; [] if they are not plain."""
    repository = _find_repository(Path(folder))
    settings = _read(repository / "config") if repository else None
    if not settings or doubt_about_git(folder):
        return []
    section = re.search(
        rf'^\[remote "{re.escape(remote)}"\]\n((?:(?!\[).*\n?)*)', settings, re.MULTILINE
    )
    values = (
        re.findall(r"^[ \t]*(?i:push)?url\s*=\s*(.*)$", section[1], re.MULTILINE) if section else []
    )
    return values if all(map(_PLAIN.fullmatch, values)) else []


def _read(settings: Path) -> str | None:
    """None if the file cannot be read completely."""
    try:
        with settings.open("rb") as file:
            text = file.read(MAX_SIZE + 1).decode()
    except (OSError, ValueError):
        return None
    return text if len(text) <= MAX_SIZE else None


def _find_repository(folder: Path) -> Path | None:
    """The repository git finds from here: the nearest above, or the folder itself."""
    for parent in (folder, *folder.parents):
        if os.path.lexists(parent / ".git"):
            return parent / ".git"
        if (parent / "HEAD").exists() and (parent / "objects").is_dir():
            return parent
    return None


def _is_harmless(settings: Path) -> bool:
    """Read line by line; anything not understood is not harmless."""
    if not settings.is_file():
        return not os.path.lexists(settings)
    text = _read(settings)
    section = ""
    for line in map(str.strip, text.split("\n")) if text is not None else ():
        begins = _SECTION.fullmatch(line)
        if begins:
            section, line = begins["name"].lower(), begins["rest"]
        if not line or line[0] in "#;":
            continue
        key = _KEY.fullmatch(line)
        if key is None or (section, key["name"].lower()) not in _KNOWN:
            return False
    return text is not None
