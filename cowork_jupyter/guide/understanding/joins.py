"""The columns by which two tables belong together."""

from __future__ import annotations

from ..tables import Table
from .names import is_key
from .tokens import stems, tokens_in, words_of


def join_keys(left_table: Table, right_table: Table, text: str = "") -> tuple[str, str] | None:
    """A plausible join key: a named column of both, ids before others."""
    named = _named(text, [*left_table.names, *right_table.names])
    first = [name for name in named if name in left_table.names]
    second = [name for name in named if name in right_table.names]
    if first and second:
        return first[0], second[-1]
    pairs = [
        (a, b)
        for a in left_table.names
        for b in right_table.names
        if _same(a, b, left_table, right_table)
    ]
    if not pairs:
        return None
    return min(pairs, key=lambda pair: (not is_key(pair[0]), pair[0].lower() != pair[1].lower()))


def _named(text: str, names: list[str]) -> list[str]:
    squeezed = {"".join(words_of(name)): name for name in reversed(names)}
    tokens = tokens_in(text)
    found = [token.text for token in tokens if token.kind == "code" and token.text in names]
    words = [token.plain for token in tokens if token.kind == "word"]
    for length in (3, 2, 1):
        windows = ("".join(words[at : at + length]) for at in range(len(words)))
        found += [squeezed[window] for window in windows if window in squeezed]
    return list(dict.fromkeys(found))


def _same(a: str, b: str, left_table: Table, right_table: Table) -> bool:
    """Equal names, or `id` of `customers` and `customer_id`."""
    mine, theirs = left_table.column(a), right_table.column(b)
    if mine is None or theirs is None or "empty" in (mine.kind, theirs.kind):
        return False
    if mine.kind != theirs.kind:
        return False
    x, y = "".join(words_of(a)), "".join(words_of(b))
    if x == y:
        return x != "name"
    return y == "id" and any(
        x == f"{stem}id" for stem in stems("".join(words_of(right_table.stem)))
    )
