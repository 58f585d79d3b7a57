"""German puts words together: `Umsatzentwicklung` is the `Entwicklung` of `Umsatz`."""

from __future__ import annotations

from collections.abc import Sequence

from .lexicon import PHRASES
from .names import Names
from .tokens import Token, folded


def split_compounds(tokens: Sequence[Token], names: Names) -> list[Token]:
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
        start, end = word[:at], word[at:]
        for stem in (start, start.removesuffix("s")):
            is_left = stem in PHRASES or names.exactly([stem])
            is_right = end in PHRASES or names.exactly([end])
            if is_left and is_right and (names.exactly([stem]) or names.exactly([end])):
                return stem, end
            if len(stem) > 5 and stem in PHRASES and names.roughly(end):
                return stem, end
    return ()
