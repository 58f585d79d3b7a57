"""Keys and passwords in cells. What is found is never repeated."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...domain.redaction import KEY_PATTERNS, is_real_key
from .reviewed_file import ReviewedCell, ReviewedFile, ReviewRemark

_KEYS = re.compile(
    "|".join((
        *KEY_PATTERNS,
        r"-----BEGIN (?:\w+ )*PRIVATE KEY-----",
        r"\bAIza[\w-]{35}\b",
        r"\bglpat-[\w-]{20,}",
        r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}",
        r"://[^\s/:@'\"{}]+:[^\s/@'\"{}]{3,}@\w",
    ))
)  # fmt: skip
_NAMES = re.compile(
    r"(?:^|_)(?:password|passwd|passphrase|pwd|secret|token|api_?key|access_?key|private_?key|"
    r"auth_?key|client_?secret)(?:_?(?:id|value|key|access_key))?$",
    re.IGNORECASE,
)
_NO_SECRET = re.compile(
    r"your|example|placeholder|change.?me|dummy|fake|redacted|insert|replace|todo|none|null|"
    r"\.\.\.|…|<|>|\{|\}|\*\*|••|xxx|\s|^test|^env:|^file:|/",
    re.IGNORECASE,
)
_IN_MAGIC = re.compile(r"^[^\S\n]*%(?:set_)?env\s+(\w+)[= ]\s*(\S+)", re.MULTILINE)
_ADVICE = (
    "Remove it, read it from the environment or ask with `getpass`, and revoke it: everyone who "
    "has had the file knows it."
)


def secret_remarks(reviewed: ReviewedFile) -> Iterator[ReviewRemark]:
    for cell in reviewed.cells:
        seen: set[int] = set()
        for line, what in (*_by_look(cell), *_by_name(cell)):
            if line not in seen:
                seen.add(line)
                comment = f"{what} is in plain text here."
                yield ReviewRemark("critical", comment, _ADVICE, cell, line)


def _by_look(cell: ReviewedCell) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(cell.source.split("\n"), 1):
        for found in _KEYS.finditer(line):
            if not _is_made_up(found[0]):
                yield number, "A password in an address" if "://" in found[0] else "A key"


def _is_made_up(found: str) -> bool:
    """Placeholders and examples."""
    if "://" in found:
        password = found.rpartition("@")[0].rpartition(":")[2]
        return bool(_NO_SECRET.search(password)) or password.lower() in ("password", "pass", "pw")
    plain = found.rpartition("-")[2] if found.startswith("sk-") else found
    few = len(set(plain)) <= 4
    return few or bool(re.search(r"your|example|xxx|\.\.\.|•••", found, re.IGNORECASE))


def _by_name(cell: ReviewedCell) -> Iterator[tuple[int, str]]:
    """`password = "…"`, `connect(token="…")`."""
    if not cell.is_code:
        return
    for found in _IN_MAGIC.finditer(cell.source):
        if _NAMES.search(found[1]) and _is_secret(found[2]):
            yield cell.source.count("\n", 0, found.start(1)) + 1, f"The value of `{found[1]}`"
    for node in ast.walk(cell.tree) if cell.tree else ():
        for name, value in _named(node):
            if _NAMES.search(name) and value is not None and _is_secret(_text(value)):
                yield value.lineno, f"The value of `{name}`"


def _named(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield _name(target), value
        case ast.AnnAssign(target=target, value=value):
            yield _name(target), value
        case ast.keyword(arg=str(name), value=value):
            yield name, value
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                yield _text(key), value


def _name(target: ast.expr) -> str:
    match target:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(slice=key):
            return _text(key)
    return ""


def _text(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _is_secret(value: str) -> bool:
    return is_real_key(value) and not _NO_SECRET.search(value) and len(set(value)) > 4
