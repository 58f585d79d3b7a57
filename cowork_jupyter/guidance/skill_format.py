"""SKILL.md by the Agent Skills convention: front matter in YAML, then instructions.

    ---
    name: joins
    description: Combine tables by key without losing or multiplying rows. Use for merge and join.
    allowed-tools: Read Bash(git:*)
    ---
    Count before you join …

Unknown fields are ignored, as is `metadata`: they are for other programs.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, Field, ValidationError, field_validator

from ..domain.errors import InvalidInput
from ..domain.validation import describe_problems, field_problems

MAX_SIZE = 64 * 1024
"""Bytes of a SKILL.md; more would leave a model little room for the conversation."""
_MAX_FRONT_MATTER = 16 * 1024
_MAX_DEPTH = 8
_MAX_WISHES = 100
_FENCE = "---"
_WISH = re.compile(r"[^\s,()]+(?:\([^()]*\))?")
"""`Read`, `Bash(git status:*)`, separated by spaces or commas."""


class SkillText(BaseModel):
    name: Annotated[str, Field(max_length=64, pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    description: Annotated[str, Field(min_length=1, max_length=1024)]
    license: str = ""
    compatibility: Annotated[str, Field(max_length=500)] = ""
    """Requirements: programs, packages, the network."""
    allowed_tools: Annotated[
        list[Annotated[str, Field(max_length=500)]],
        Field(alias="allowed-tools", max_length=_MAX_WISHES),
    ] = []
    """Tools that it would like to use without asking. Displayed to the user; it grants nothing."""
    body: Annotated[str, Field(min_length=1)]

    @field_validator("description", "license", "compatibility", mode="before")
    @classmethod
    def _on_one_line(cls, text: Any) -> Any:
        return " ".join(text.split()) if isinstance(text, str) else text

    @field_validator("allowed_tools", mode="before")
    @classmethod
    def _one_by_one(cls, wishes: Any) -> Any:
        return _WISH.findall(wishes) if isinstance(wishes, str) else wishes


@lru_cache(maxsize=256)
def parse_skill(data: bytes, folder: str) -> SkillText:
    """Raises InvalidInput if it is malformed, or its name is not the folder's."""
    front_matter, body = _divided(_decoded(data))
    fields = {**_mapping(front_matter), "body": body.strip()}
    try:
        skill = SkillText.model_validate(fields)
    except ValidationError as error:
        problems = field_problems(error, SkillText.model_fields)
        raise InvalidInput(f"{describe_problems(problems)}.") from None
    if skill.name != folder:
        raise InvalidInput(f"Its name is '{skill.name}', but its folder is called '{folder}'.")
    return skill


def _decoded(data: bytes) -> str:
    if len(data) > MAX_SIZE:
        raise InvalidInput(f"Its SKILL.md is larger than {MAX_SIZE // 1024} KiB.")
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise InvalidInput("Its SKILL.md is not UTF-8 text.") from None


def _divided(text: str) -> tuple[str, str]:
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
                raise _refused(f"'{key[:100]}' stands there twice", node)
        return super().construct_mapping(node, deep)


def _refused(why: str, where: Any) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=why, problem_mark=where.start_mark)
