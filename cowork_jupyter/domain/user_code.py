"""Python as users write it in cells: lines of IPython's own between it, and cells of others."""

from __future__ import annotations

import ast
import re
import warnings
from functools import lru_cache

_MAGIC = re.compile(r"^([^\S\n]*)(?:([\w., ]{1,200}?)\s*=\s*)?[%!].*$", re.MULTILINE)
_HELP = re.compile(r"^[ \t]*(?:\?{1,2}[\w.]+|[\w.]+\?{1,2})[ \t]*$", re.MULTILINE)
_AROUND = re.compile(
    r"(?P<above>\s*)%%(?:time|timeit|prun|capture(?:[ \t]+(?P<name>[A-Za-z_]\w*))?)\b[^\n]*"
)
"""Magics whose cells are Python all the same; the argument of `%%capture` is a variable."""
_REQUEST = re.compile(r"\s*%%(?:plan|act|ask)(?=\s|$)")


def is_request(source: str) -> bool:
    """Whether a cell asks an agent for something."""
    return bool(_REQUEST.match(source))


def as_python(source: str) -> str | None:
    """Drop what only IPython understands, keeping lines; None if it is in another language."""
    if source.lstrip().startswith("%%"):
        around = _AROUND.match(source)
        if around is None:
            return None
        made = around["name"]
        source = f"{around['above']}{f'{made} = None' if made else ''}{source[around.end() :]}"
    text = _HELP.sub("", source)
    return _MAGIC.sub(lambda found: f"{found[1]}{found[2] or '_'} = None", text)


@lru_cache(maxsize=256)  # the cells of a notebook are read again with each run
def parse_code(source: str) -> ast.Module | None:
    """None if it is in another language, or does not parse. Must not be changed."""
    python = as_python(source)
    # As it is at first: a line of plain Python can begin with `%`, too.
    return None if python is None else _parse(source) or _parse(python)


def _parse(text: str) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the user's code
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
