"""Turns the chunks of a model's answer into the lines that a page gets, within limits."""

from __future__ import annotations

from collections.abc import Sequence

from ...domain.contexts import Usage
from ...domain.redaction import HIDDEN, Mask
from ...domain.suggestions import SuggestionReset, SuggestionText
from ...llm.chunks import Chunk, Finished, ReasoningChunk, Restarted, TextChunk, UsageChunk
from ...llm.code_stream import CodeStream
from ...llm.failures import Garbled
from ...llm.reader import ReplyReader
from ...llm.reply import Delta, TextDelta
from ...llm.run_on import RunOnDetector

MAX_CODE, MAX_THOUGHTS = 100_000, 400_000
"""Characters after which reading stops."""
_MAX_EXPLANATION = 600
_ONLY_THOUGHT = "The model has thought again."

Line = SuggestionText | SuggestionReset


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
        """Whether the rest can be skipped."""
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


class WordsAnswer:
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


def with_secrets(proposed: str, original: str, mask: Mask) -> str:
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
