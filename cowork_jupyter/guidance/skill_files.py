"""A skill's folder: its SKILL.md, and the files that come with it, each by its digest.

Everything is read through `Workspace`, so no link leads out of the folder that holds the
skills, and links inside a skill's own folder are not followed at all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..domain.errors import Conflict, InvalidInput, NotFound
from ..workspace import Workspace

SKILL_FILE = "SKILL.md"
MAX_FILES = 100
MAX_FILE_SIZE = 1024 * 1024
MAX_TOTAL_SIZE = 2 * MAX_FILE_SIZE
MAX_DEPTH = 4
_CACHES = "__pycache__"
"""Written by Python when a script runs, which is no change of the skill."""


@dataclass(frozen=True)
class SkillFile:
    path: str
    """Relative to the skill's folder."""
    size: int
    digest: str
    """Of its content; empty for a link, which is listed and not followed."""

    def __str__(self) -> str:
        about = f"{self.size} bytes, sha256 {self.digest}" if self.digest else "a link"
        return f"{self.path} ({about})"


@dataclass
class SkillFiles:
    """Reads the files of skills below one folder; caches digests of unchanged files."""

    root: Workspace
    _digests: dict[str, tuple[tuple[int, ...], str]] = field(default_factory=dict)

    def of(self, folder: str) -> list[SkillFile]:
        """Raises InvalidInput if there are too many or too large files."""
        found: list[SkillFile] = []
        room = MAX_TOTAL_SIZE
        for file in self._walk(folder, "", 1):
            found.append(file)
            room -= file.size
            if len(found) > MAX_FILES:
                raise InvalidInput(f"It has more than {MAX_FILES} files.")
            if room < 0:
                raise InvalidInput(f"Its files are larger than {MAX_TOTAL_SIZE // 1024} KiB.")
        return [file for file in found if file.path != SKILL_FILE]

    def read(self, folder: str, file: SkillFile) -> bytes:
        """Raises Conflict if the file has changed since it was listed."""
        if not file.digest:
            raise InvalidInput(f"'{file.path}' is a link, which is not followed.")
        with self.root.locate(f"{folder}/{file.path}", follow=False) as place:
            data = place.read(MAX_FILE_SIZE + 1)
        if _digest(data) != file.digest:
            raise Conflict(f"'{file.path}' is being changed. Try again.", retryable=True)
        return data

    def _walk(self, folder: str, under: str, depth: int) -> Iterator[SkillFile]:
        if depth > MAX_DEPTH:
            raise InvalidInput(f"Its folders are nested more than {MAX_DEPTH} deep.")
        with self.root.locate(f"{folder}/{under}" if under else folder, follow=False) as place:
            entries = place.entries()
        for entry in entries:
            path = f"{under}{entry.name}"
            if entry.kind == "folder" and entry.name != _CACHES:
                yield from self._walk(folder, f"{path}/", depth + 1)
            elif entry.kind == "link":
                yield SkillFile(path, 0, "")
            elif entry.kind == "file":
                yield SkillFile(path, entry.size, self._digest_of(f"{folder}/{path}"))

    def _digest_of(self, path: str) -> str:
        with self.root.locate(path, follow=False) as place:
            facts = place.stat()
            mark = (facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)
            known = self._digests.get(path)
            if known and known[0] == mark:
                return known[1]
            data = place.read(MAX_FILE_SIZE + 1)
        if len(data) > MAX_FILE_SIZE:
            raise InvalidInput(f"'{path}' is larger than {MAX_FILE_SIZE // 1024} KiB.")
        digest = _digest(data)
        self._digests[path] = (mark, digest)
        return digest


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def file_named(files: list[SkillFile], path: str) -> SkillFile:
    """Only listed files: the path of a caller is never opened as such."""
    wanted = path.removeprefix("./")
    for file in files:
        if file.path == wanted:
            return file
    names = ", ".join(file.path for file in files) or "none"
    raise NotFound(f"This skill has no file '{path}'. It has: {names}.")
