"""German puts words together: `Umsatzentwicklung` is the `Entwicklung` of `Umsatz`."""

from __future__ import annotations

from collections.abc import Sequence

from .lexicon import PHRASES
from .names import Names
from .tokens import Token, folded


def split_compounds(tokens: Sequence[Token], names: Names) -> list[Token]:
    """The words with those apart that are made of two which are known."""
    found: list[Token] = []
    for token in tokens:
        parts = _parts(token, names) if token.kind == "word" and len(token.plain) > 7 else ()
        found += [Token("word", part, folded(part)) for part in parts] or [token]
    return found


def _parts(token: Token, names: Names) -> tuple[str, ...]:
    word = token.plain
    if word in PHRASES or names.exactly([word]) or names.value([word]) or len(word) > 40:
        return ()
    for at in range(len(word) - 3, 2, -1):
        left, right = word[:at], word[at:]
        for one in (left, left.removesuffix("s")):
            is_left = one in PHRASES or names.exactly([one])
            is_right = right in PHRASES or names.exactly([right])
            if is_left and is_right and (names.exactly([one]) or names.exactly([right])):
                return one, right
            if len(one) > 5 and one in PHRASES and names.roughly(right):
                return one, right
    return ()
