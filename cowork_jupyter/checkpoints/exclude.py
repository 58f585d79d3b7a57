"""What a scan leaves out: environments, caches and the like, by a list that users can edit."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ..domain.settings import CHECKPOINT_EXCLUDE
from ..workspace import Glob
from ..workspace.no_follow import LEFTOVER

NEVER = ".git"
"""Never looked into, whatever the list says: git's own folder is git's own business."""

_ENVIRONMENT_MARKS = frozenset({"pyvenv.cfg", "conda-meta"})
_PSEUDO = frozenset(
    {"proc", "sysfs", "devtmpfs", "devpts", "cgroup", "cgroup2", "debugfs", "tracefs", "securityfs"}
)
_MOUNTS = Path("/proc/self/mountinfo")


class Exclusions:
    """The list, ready to be asked."""

    def __init__(
        self, patterns: Iterable[str] = CHECKPOINT_EXCLUDE, private: Iterable[Path] = ()
    ) -> None:
        self._patterns = tuple(patterns)
        self._private = tuple(private)
        self._names: set[str] = set()
        self._globs: list[Glob] = []
        for pattern in self._patterns:
            plain = pattern.rstrip("/")
            if not set("*?[]{}/\\") & set(plain):
                self._names.add(plain)
                continue
            with suppress(ValueError):  # a broken pattern leaves nothing out
                self._globs.append(Glob(plain))

    @property
    def rules(self) -> str:
        """Differs when other things are left out."""
        return repr((self._patterns, tuple(map(str, self._private))))

    def places(self, root: Path) -> dict[str, str]:
        """Why, for each path that is left out because of where it is."""
        found = {
            path.relative_to(root).as_posix(): "where Cowork keeps its own records"
            for path in self._private
            if path != root and path.is_relative_to(root)
        }
        return found | dict.fromkeys(_pseudo_mounts(root), "not a real folder of files")

    def why(self, path: str, name: str) -> str:
        """Why this file or folder is left out; empty if it is not."""
        if name == NEVER:
            return "git's own data is never touched"
        if name in self._names or (self._globs and any(glob.matches(path) for glob in self._globs)):
            return "excluded by checkpoint_exclude"
        if name.startswith(".") and LEFTOVER.fullmatch(name):
            return "a temporary file of ours"
        return ""

    def is_environment(self, names: Iterable[str]) -> bool:
        """Whether a folder with these entries is an environment, whatever it is called."""
        return not _ENVIRONMENT_MARKS.isdisjoint(names)


def inside_git(path: str) -> bool:
    """Whether the path is git's own folder, or in it."""
    return NEVER in path.split("/")


def _pseudo_mounts(root: Path) -> list[str]:
    """Mount points below the root of what only looks like files."""
    try:
        lines = _MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        if len(fields) > 4 and after.split(" ")[0] in _PSEUDO:
            point = Path(fields[4].replace("\\040", " "))
            if point != root and point.is_relative_to(root):
                found.append(point.relative_to(root).as_posix())
    return found
