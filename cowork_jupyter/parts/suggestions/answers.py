"""Answers to requests for suggestions: read from a model's stream, or made by rules."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import islice
from posixpath import dirname, relpath

from ...agents.log import RunLog
from ...agents.run.tool_environment import ToolEnvironment
from ...domain.contexts import Usage
from ...domain.redaction import HIDDEN, Mask
from ...domain.suggestions import SuggestionDone, SuggestionRequest, SuggestionReset, SuggestionText
from ...llm.chunks import Chunk, Finished, ReasoningChunk, Restarted, TextChunk, UsageChunk
from ...llm.client import ProposeFix
from ...llm.code_stream import CodeStream
from ...llm.failures import Garbled
from ...llm.reader import ReplyReader
from ...llm.repetition import RunOnDetector
from ...llm.reply import Delta, TextDelta
from ...workspace import IgnoreRules, Workspace, visible_files
from .cell_context import read_notebook_facts

MAX_CODE, MAX_THOUGHTS = 100_000, 400_000
_MAX_EXPLANATION = 600
_ONLY_THOUGHT = "That text was only the model thinking."

Line = SuggestionText | SuggestionReset

_KERNEL_SECONDS = 1.0
"""For looking into the kernel: nothing else takes time."""
_MAX_FILES = 5_000
_ABOUT_FILES = ("FileNotFoundError", "OSError", "IsADirectoryError", "NotADirectoryError")


class CodeAnswer:
    def __init__(self, *, bare: bool = False, shell: bool = False) -> None:
        self._options = {"bare": bare, "shell": shell}
        self.usage = Usage()
        self.is_cut = False
        """Whether the model was stopped by a limit."""
        self._spent = Usage()
        self._begin()

    def _begin(self) -> None:
        self.stream = CodeStream(**self._options)
        self._run_on = RunOnDetector()
        self._written, self._thought = 0, 0

    @property
    def is_whole(self) -> bool:
        return self.stream.is_whole

    @property
    def source(self) -> str:
        return self.stream.code

    @property
    def explanation(self) -> str:
        """The words before the code, truncated."""
        said = " ".join(self.stream.prose.split())
        return said if len(said) <= _MAX_EXPLANATION else f"{said[: _MAX_EXPLANATION - 1]}…"

    def feed(self, chunk: Chunk) -> list[Line]:
        """Returns what the page gets now. Raises Garbled for an answer without end."""
        match chunk:
            case TextChunk(text):
                return self._read(text)
            case ReasoningChunk(text):
                self._thought += len(text)
                self._check()
            case UsageChunk(usage):
                self.usage = self._spent + usage
            case Finished(reason):
                self.is_cut = reason == "length"
            case Restarted(reason):
                self._spent = self.usage
                self._begin()
                return [SuggestionReset(reason=reason)]
        return []

    def finish(self) -> list[Line]:
        return _text(self.stream.finish())

    def _read(self, text: str) -> list[Line]:
        self._written += len(text)
        self._run_on.add(text, in_data=True)
        self._check()
        piece = self.stream.feed(text)
        return [SuggestionReset(reason=_ONLY_THOUGHT)] if piece is None else _text(piece)

    def _check(self) -> None:
        too_long = self._written > MAX_CODE or self._thought > MAX_THOUGHTS
        if too_long or self._run_on.found:
            raise Garbled("The model's answer does not end. Try again, or use another model.")


class TextAnswer:
    def __init__(self) -> None:
        self._reader = ReplyReader()
        self._written = 0
        self.explanation = ""

    @property
    def usage(self) -> Usage:
        return self._reader.usage

    @property
    def is_cut(self) -> bool:
        return False  # what is there of an explanation is of use

    @property
    def is_whole(self) -> bool:
        return self._reader.is_whole

    @property
    def source(self) -> str:
        return self._reader.reply.text

    def feed(self, chunk: Chunk) -> list[Line]:
        if isinstance(chunk, Restarted):
            self._reader.feed(chunk)
            return [SuggestionReset(reason=chunk.reason)]
        if isinstance(chunk, (TextChunk, ReasoningChunk)):
            self._written += len(chunk.text)
            if self._written > MAX_THOUGHTS:
                raise Garbled("The model's answer does not end. Try again, or use another model.")
        return self._text_of(self._reader.feed(chunk))

    def finish(self) -> list[Line]:
        return self._text_of(self._reader.finish())

    def _text_of(self, deltas: Sequence[Delta]) -> list[Line]:
        return _text("".join(delta.text for delta in deltas if isinstance(delta, TextDelta)))


def _text(piece: str) -> list[Line]:
    return [SuggestionText(text=piece)] if piece else []


def restore_secrets(proposed: str, original: str, mask: Mask) -> str:
    """Put back the lines of the original in which the model saw a masked secret."""
    if HIDDEN not in proposed:
        return proposed
    lines = {
        mask(line).strip(): line.strip() for line in original.splitlines() if mask(line) != line
    }
    kept = []
    for line in proposed.split("\n"):
        known = lines.get(line.strip())
        indent = line[: len(line) - len(line.lstrip())]
        kept.append(line if known is None else indent + known)
    return "\n".join(kept)


async def answer_by_rules(
    tools: ToolEnvironment,
    log: RunLog,
    notebook: str | None,
    request: SuggestionRequest,
    propose: ProposeFix,
) -> SuggestionDone:
    """What is proposed for a failed cell; the source is unchanged if there is no fix."""
    assert request.error is not None
    looked = await read_notebook_facts(tools, log, notebook, request, _KERNEL_SECONDS)
    files: tuple[str, ...] = ()
    may_list = tools.unasked_workspace(log, "list_directory", path=".")
    if request.error.name in _ABOUT_FILES and may_list:
        files = await asyncio.to_thread(_files, may_list, dirname(notebook or ""))
    fix = await asyncio.to_thread(propose, request, looked.variables, files)
    if request.kind == "explain":
        return SuggestionDone(source=_explanation(fix), usage=fix.usage)
    return fix.model_copy(update={"source": fix.source or request.source})


def _explanation(fix: SuggestionDone) -> str:
    why = fix.explanation
    return f"{why}\n\nThis would work:\n\n```python\n{fix.source}\n```" if fix.source else why


def _files(workspace: Workspace, folder: str) -> tuple[str, ...]:
    found = islice(visible_files(workspace, ".", IgnoreRules(workspace)), _MAX_FILES)
    return tuple(relpath(file, folder or ".") for file in found)
