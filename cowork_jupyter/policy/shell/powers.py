"""Whether arguments hold one that a row of the table names.

It errs towards yes: a long option counts when it is cut short or has a value, a short one anywhere
in a cluster, a sub-command wherever it stands. The price is a question too many.
"""

from __future__ import annotations

from collections.abc import Sequence


def mentions(texts: Sequence[str], argument: str) -> bool:
    """Whether one of these words is the argument, as programs read it."""
    return any(_is(text, argument) for text in texts)


def _is(text: str, argument: str) -> bool:
    if argument == "@":  # a file with further arguments
        return text.startswith("@")
    if not argument.startswith("-"):
        return text == argument
    option = text.partition("=")[0]
    if argument.startswith("--"):
        return len(option) > 2 and option.startswith("--") and argument.startswith(option)
    if len(argument) == 2:
        return text.startswith("-") and not text.startswith("--") and argument[1] in text[1:]
    return option == argument
