"""Whether git can run in a folder without asking: a repository's settings can name programs.

`git status` starts `core.fsmonitor`, `git diff` a text converter, and both come with the folder. So
the settings may contain only what is known to start nothing.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

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
    repository = _found(Path(folder))
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
    repository = _found(Path(folder))
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


def _found(folder: Path) -> Path | None:
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
