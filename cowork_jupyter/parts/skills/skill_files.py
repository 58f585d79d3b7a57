"""A skill's folder: its SKILL.md, and the files that come with it, each by its digest.

Everything is read through `Workspace`, so no link leads out of the folder that holds the
skills, and links inside a skill's own folder are not followed at all.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, Field, ValidationError, field_validator

from ...domain.base_models import describe_problems, field_problems
from ...domain.errors import Conflict, InvalidInput, NotFound
from ...workspace import Workspace

MAX_SIZE = 64 * 1024
"""Bytes of a SKILL.md; more would leave a model little room for the conversation."""
_MAX_FRONT_MATTER = 16 * 1024
_MAX_DEPTH = 8
_MAX_TOOLS = 100
_FENCE = "---"
_TOOL = re.compile(r"[^\s,()]+(?:\([^()]*\))?")
"""`Read`, `Bash(git status:*)`, separated by spaces or commas."""


class SkillText(BaseModel):
    name: Annotated[str, Field(max_length=64, pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    description: Annotated[str, Field(min_length=1, max_length=1024)]
    license: str = ""
    compatibility: Annotated[str, Field(max_length=500)] = ""
    allowed_tools: Annotated[
        list[Annotated[str, Field(max_length=500)]],
        Field(alias="allowed-tools", max_length=_MAX_TOOLS),
    ] = []
    """Tools that it would like to use without asking. Displayed to the user; it grants nothing."""
    body: Annotated[str, Field(min_length=1)]

    @field_validator("description", "license", "compatibility", mode="before")
    @classmethod
    def _on_one_line(cls, text: Any) -> Any:
        return " ".join(text.split()) if isinstance(text, str) else text

    @field_validator("allowed_tools", mode="before")
    @classmethod
    def _one_by_one(cls, tools: Any) -> Any:
        return _TOOL.findall(tools) if isinstance(tools, str) else tools


@lru_cache(maxsize=256)
def parse_skill(data: bytes, folder: str) -> SkillText:
    """Parse a SKILL.md: front matter in YAML, then instructions, by the Agent Skills convention.

        ---
        name: joins
        description: Combine tables by key without losing or multiplying rows. Use for merge.
        allowed-tools: Read Bash(git:*)
        ---
        Count before you join …

    Unknown fields are ignored, as is `metadata`: they are for other programs. Raises InvalidInput
    if it is malformed, or its name is not the folder's.
    """
    front_matter, body = _split(_decode(data))
    fields = {**_mapping(front_matter), "body": body.strip()}
    try:
        skill = SkillText.model_validate(fields)
    except ValidationError as error:
        problems = field_problems(error, SkillText.model_fields)
        raise InvalidInput(f"{describe_problems(problems)}.") from None
    if skill.name != folder:
        raise InvalidInput(f"Its name is '{skill.name}', but its folder is called '{folder}'.")
    return skill


def _decode(data: bytes) -> str:
    if len(data) > MAX_SIZE:
        raise InvalidInput(f"Its SKILL.md is larger than {MAX_SIZE // 1024} KiB.")
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise InvalidInput("Its SKILL.md is not UTF-8 text.") from None


def _split(text: str) -> tuple[str, str]:
    lines = text.split("\n")
    ends = [place for place, line in enumerate(lines) if line.rstrip() == _FENCE]
    if len(ends) < 2 or ends[0] != 0:
        raise InvalidInput("Its SKILL.md must begin with front matter between two lines '---'.")
    front_matter = "\n".join(lines[1 : ends[1]])
    if len(front_matter) > _MAX_FRONT_MATTER:
        raise InvalidInput(f"Its front matter is larger than {_MAX_FRONT_MATTER // 1024} KiB.")
    return front_matter, "\n".join(lines[ends[1] + 1 :])


def _mapping(front_matter: str) -> dict[str, Any]:
    try:
        content = yaml.load(front_matter, _PlainLoader)  # noqa: S506 (it makes no objects)
    except yaml.MarkedYAMLError as error:
        line = f" in line {error.problem_mark.line + 2}" if error.problem_mark else ""
        why = f"Its front matter is not plain YAML{line}: {error.problem}."
        raise InvalidInput(f"{why} Put texts with ': ' or '#' in quotes.") from None
    except yaml.YAMLError:
        raise InvalidInput("Its front matter has characters that YAML does not allow.") from None
    if not isinstance(content, dict):
        raise InvalidInput("Its front matter must be lines such as 'name: …'.")
    return content


class _PlainLoader(yaml.BaseLoader):  # type: ignore[misc] # PyYAML has no types
    """Only strings, lists and mappings: no types, and no references that could grow endlessly."""

    _depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise _refused("anchors and aliases are not allowed", event)
        if self._depth > _MAX_DEPTH:
            raise _refused("it is nested too deeply", event)
        self._depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        keys = [key.value for key, _ in node.value]
        for place, key in enumerate(keys):
            if not isinstance(key, str):
                raise _refused("a field's name must be text", node)
            if key in keys[:place]:
                raise _refused(f"'{key[:100]}' appears twice", node)
        return super().construct_mapping(node, deep)


def _refused(why: str, where: Any) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=why, problem_mark=where.start_mark)


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
    for file in files:
        if file.path == path.removeprefix("./"):
            return file
    names = ", ".join(file.path for file in files) or "none"
    raise NotFound(f"This skill has no file '{path}'. It has: {names}.")
