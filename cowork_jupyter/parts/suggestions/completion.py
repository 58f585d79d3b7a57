"""Completions at the cursor: a small question, an answer cut to what fits there, and a cache."""

from __future__ import annotations

import hashlib
import json
import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ...domain.suggestions import SuggestionRequest
from ...llm.frames import Frame
from ...tools.kernel.state import Variable
from .cell_context import CellContext, cell_names
from .prompts import describe_variable

MAX_TOKENS = 96
MAX_CHARACTERS = 1_200
_PREFIX, _SUFFIX, _BEFORE = 2_000, 600, 1_500
"""Characters of the cell before and behind the cursor, and of the cells above it."""
_MAX_VARIABLES = 12
_REMEMBERED = 200
_OVERLAP = 200

_ASK = (
    "You complete code in a notebook cell. Reply with only the text that belongs at <CURSOR>: no "
    "explanation, no code fence, nothing of what stands before or behind it. Usually that is the "
    "rest of the line, at most a few lines."
)
_WORD = re.compile(r"\w+$")
_NEXT_BLOCK = re.compile(r"\n(?=(?:def|class|async def)\b|@)")
_PAIRS = {")": "(", "]": "[", "}": "{"}


def completion_messages(
    request: SuggestionRequest, around: CellContext, frame: Frame
) -> list[dict[str, Any]]:
    prefix, suffix = split_at_cursor(request)
    cell = f"{prefix[-_PREFIX:]}<CURSOR>{suffix[:_SUFFIX]}"
    parts = [_above(request, around), _names(around.named_in(_naming(request, around)))]
    data = frame.around("\n\n".join([*filter(None, parts), f"Cell:\n{cell}"]))
    return [
        {"role": "system", "content": f"{_ASK}\n{frame.explained}"},
        {"role": "user", "content": data},
    ]


def split_at_cursor(request: SuggestionRequest) -> tuple[str, str]:
    length = len(request.source)
    cursor = length if request.cursor is None else min(max(request.cursor, 0), length)
    return request.source[:cursor], request.source[cursor:]


def _above(request: SuggestionRequest, around: CellContext) -> str:
    """The code just above, as much as fits; imports from further up."""
    ids = [cell.id for cell in around.cells]
    place = ids.index(request.cell_id) if request.cell_id in ids else len(ids)
    code = [cell.source for cell in around.cells[:place] if cell.cell_type == "code"]
    near = "\n".join(code[-2:])[-_BEFORE:]
    imports = [
        line
        for source in code[:-2]
        for line in source.splitlines()
        if line.startswith(("import ", "from "))
    ]
    return "\n".join(["Above:", *imports[:20], near]) if code else ""


def _naming(request: SuggestionRequest, around: CellContext) -> str:
    made = [name for cell in around.cells[-20:] for name in sorted(cell_names(cell.source).made)]
    return " ".join([request.source, *made])


def _names(variables: Sequence[Variable]) -> str:
    lines = [describe_variable(variable) for variable in variables[:_MAX_VARIABLES]]
    return "\n".join(["Variables:", *lines]) if lines else ""


def complete_part(text: str) -> str | None:
    """The completion in what has come so far, if it is complete: at a blank line, or where another
    block begins.
    """
    start = len(text) - len(text.lstrip())
    ends = [at for at in (text.find("\n\n", start),) if at >= 0]
    ends += [match.start() for match in (_NEXT_BLOCK.search(text, start),) if match]
    if len(text) > MAX_CHARACTERS:
        ends.append(MAX_CHARACTERS)
    return text[: min(ends)] if ends else None


def fit_completion(text: str, prefix: str, suffix: str) -> str:
    text = _without_prefix(complete_part(text) or text, prefix)
    return _without_suffix(text.rstrip(), suffix)


def _without_prefix(text: str, prefix: str) -> str:
    line = prefix.rpartition("\n")[2]
    begun = line.lstrip()
    if begun and text.lstrip().startswith(begun):
        return text.lstrip()[len(begun) :]
    word = _WORD.search(line[-_OVERLAP:])
    if word and len(word[0]) > 1 and text.startswith(word[0]):
        return text[len(word[0]) :]
    if line and not line[-1].isspace():
        return text
    # After an indent, or a space, the model may give it once more.
    if not begun and text.startswith("\n"):
        text = text.lstrip("\n")
    if line and text.startswith(line):
        return text[len(line) :]
    return text.lstrip(" ") if line else text


def _without_suffix(text: str, suffix: str) -> str:
    following = suffix[:_OVERLAP]
    for length in range(min(len(following), len(text)), 0, -1):
        shared = following[:length]
        if shared.strip() and text.endswith(shared):
            is_own = length == 1 and not _closes_too_much(text, shared)
            return text if is_own else text[:-length]
    return text


def _closes_too_much(text: str, closing: str) -> bool:
    opening = _PAIRS.get(closing)
    if opening is None:
        return closing in "\"'" and text.count(closing) % 2 == 1
    return text.count(closing) > text.count(opening)


@dataclass
class CompletionCache:
    """LRU cache of answers."""

    _answers: OrderedDict[str, str] = field(default_factory=OrderedDict)

    def key(self, model: str, messages: list[dict[str, Any]]) -> str:
        return hashlib.sha256(json.dumps([model, messages]).encode()).hexdigest()

    def get(self, key: str) -> str | None:
        if key in self._answers:
            self._answers.move_to_end(key)
        return self._answers.get(key)

    def keep(self, key: str, answer: str) -> None:
        self._answers[key] = answer
        self._answers.move_to_end(key)
        while len(self._answers) > _REMEMBERED:
            self._answers.popitem(last=False)
