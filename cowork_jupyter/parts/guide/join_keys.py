"""The key of a join, by names and by values: what does not fit is asked."""

from __future__ import annotations

from typing import Any

from . import in_scratch
from .facts import facts_of
from .reading.joins import JoinReading
from .script import Script

_ENOUGH = 0.5  # the share of rows that find a match, below which a key is doubted
_NONE = "none"


def settle_key(script: Script, join: JoinReading) -> JoinReading:
    """With a key; of one that is named, only what does not fit is asked."""
    first, second, pairs = join.table, join.other, join.pairs
    if not pairs:
        script.refuse(
            f"`{first.path}` and `{second.path}` have no column in common by name. Name one of "
            f"each: “join {first.path} with {second.path} on {first.names[0]} = "
            f"{second.names[0]}”."
        )
    call = f"show_keys({{}}, {{}}, {list(pairs)!r})"
    found = facts_of(script, [first, second], in_scratch.show_keys, call)
    looks = {" = ".join(pair): look for pair, look in zip(pairs, found, strict=False)}
    is_good = all(look["found"] >= _ENOUGH and not look["repeated"] for look in found)
    if len(pairs) == 1 and (is_good or join.keeps_matches):
        return join.on(pairs[0])
    question = f"Which column joins `{first.path}` with `{second.path}`?"
    if len(pairs) == 1:
        question = f"Join `{first.path}` with `{second.path}` nevertheless?"
    why = "A join should find one row of the second table for most rows of the first."
    keys = {" = ".join(pair): pair for pair in pairs}
    labels = {name: _described(pair, looks.get(name)) for name, pair in keys.items()}
    answer = script.ask(question, why, {**labels, _NONE: "Do not join them"})
    if answer not in keys:
        script.refuse("Nothing was joined.")
    return join.on(keys[answer], keeps_matches=bool(looks and looks[answer]["repeated"]))


def _described(pair: tuple[str, str], look: dict[str, Any] | None) -> str:
    name = " = ".join(dict.fromkeys(f"`{name}`" for name in pair))
    if not look:
        return name
    matched = f"{name}: {look['found']:.0%} of {look['rows']:,} rows find a match"
    if not look["repeated"]:
        return f"{matched}, none more than one"
    return f"{matched}, but some several: {look['joined']:,} rows come of it"
