"""Token estimates without the model's own vocabulary, which would have to be downloaded.

A rough tokenizer: each match of one pattern is about one token. It tends to overestimate, above all
what tokenizers are bad at (Chinese, base64, digits). The usage reported by the API then corrects
the estimate for the model at hand.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable

Count = Callable[[str], int]

_PIECE = re.compile(
    r"[a-z]{2}(?=[a-z]{14})"  # no word is that long: a sequence, a hash
    r"|[A-Z]?[a-z]{1,7}"  # a short word, or part of a long one or of a camelCase name
    r"|[A-Z]{1,3}"
    r"|[0-9]{1,2}"  # some models take one digit a token, some three
    r"|[!-/:-@\[-`{-~]{1,2}"  # ASCII signs: `()` and `):` are often one
    r"|\n[\n ]{0,15}|\t{1,4}|[ ]{2,16}"  # a line break with the indent; single spaces are free
    r"|[\u0080-\u07ff]{1,2}"  # accents, Greek, Cyrillic, Arabic
    r"|[\u0800-\U0010ffff]"  # Thai, Hindi, Chinese, Japanese, Korean, symbols
    r"|[\x00-\x1f\x7f]"
)
_BETWEEN_PARAGRAPHS = re.compile(r"(?<=\S)\n\n(?=\S)")
"""One token by the pattern, so paragraphs can be counted (and cached) separately."""
_RARE = re.compile(r"[\U00010000-\U0010ffff]")

_WHOLE = 64_000
_SAMPLE = 2_000
_MIN, _MAX = 0.6, 3.0
_TOO_SHORT_TO_LEARN = 100


_REMEMBERED = 16_384
_counts: dict[tuple[int, int], int] = {}
"""By hash and length: the same history is counted at every turn, and no text is kept alive."""


def estimate_tokens(text: str) -> int:
    key = (hash(text), len(text))
    count = _counts.get(key)
    if count is None:
        count = _estimate(text)
        if len(_counts) >= _REMEMBERED:
            _counts.clear()
        _counts[key] = count
    return count


def _estimate(text: str) -> int:
    if len(text) <= _WHOLE:
        paragraphs = _BETWEEN_PARAGRAPHS.split(text)
        if len(paragraphs) == 1:
            return _pieces(text)
        # Successive prompts differ in a paragraph or two.
        return sum(map(estimate_tokens, paragraphs)) + len(paragraphs) - 1
    step = len(text) // (_WHOLE // _SAMPLE)
    samples = [text[start : start + _SAMPLE] for start in range(0, len(text), step)]
    share = sum(map(len, samples)) / len(text)
    return math.ceil(sum(map(_pieces, samples)) / share)


def _pieces(text: str) -> int:
    rare = 0 if text.isascii() else len(_RARE.findall(text))
    return len(_PIECE.findall(text)) + rare


class TokenCounter:
    def __init__(self) -> None:
        self._ratio = 1.0

    @property
    def ratio(self) -> float:
        return self._ratio

    def __call__(self, text: str) -> int:
        return math.ceil(estimate_tokens(text) * self._ratio)

    def learn(self, sent: Iterable[str], reported: int) -> None:
        """Compare with the `prompt_tokens` that the API reported for a request.

        Too low an estimate makes requests fail, so the ratio rises quickly and falls slowly. It is
        bounded because some servers report only uncached tokens.
        """
        estimate = sum(map(estimate_tokens, sent))
        if estimate < _TOO_SHORT_TO_LEARN or reported <= 0:
            return
        seen = min(max(reported / estimate, _MIN), _MAX)
        weight = 0.5 if seen > self._ratio else 0.1
        self._ratio += weight * (seen - self._ratio)


def cut_middle(text: str, limit: int, count: Count, hint: str = "") -> str:
    """Keep beginning and end of a text within the limit, with a note about what was cut."""
    cost = count(text)
    keep = len(text)
    shorter = text
    while cost > limit and keep > 0:
        # Slightly less than proportional, so that two or three rounds suffice.
        keep = min(keep - 1, int(keep * max(limit, 0) / cost * 0.95))
        shorter = _without_middle(text, keep, hint)
        cost = count(shorter)
    return shorter if cost <= limit else ""


def _without_middle(text: str, keep: int, hint: str) -> str:
    head, tail = text[: (keep + 1) // 2], text[len(text) - keep // 2 :]
    cut = text[len(head) : len(text) - len(tail)]
    first = head.count("\n") + 1
    lines = f"lines {first}–{first + cut.count(chr(10))} of {text.count(chr(10)) + 1}, "
    where = lines if "\n" in cut else ""
    note = f"[cut here: {where}{len(cut):,} of {len(text):,} characters. {hint}".rstrip()
    return f"{head}\n{note}]\n{tail}"


def head_of(text: str, limit: int, count: Count) -> str:
    head = text[: limit * 10]
    while head and count(head) > limit:
        shorter = head[: int(len(head) * limit / count(head) * 0.95)]
        head = shorter.rpartition("\n")[0] or shorter
    return head if len(head) == len(text) or not head else f"{head}\n[only the beginning]"
