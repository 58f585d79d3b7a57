"""Keys and passwords in cells. What is found is never repeated."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....domain.redaction import KEY_PATTERNS, is_real_key
from .reviewed_file import ReviewedFile, ReviewRemark

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
_NAMED = re.compile(
    r"(\w+)(?:['\"]\]?)?(?:\s*:\s*\w+)?\s*[=:]\s*['\"]([^'\"]+)['\"]"
    r"|^\s*%(?:set_)?env\s+(\w+)[= ]\s*(\S+)"
)
_ADVICE = (
    "Remove it, read it from the environment or ask with `getpass`, and revoke it: everyone who "
    "has had the file knows it."
)


def secret_remarks(reviewed: ReviewedFile) -> Iterator[ReviewRemark]:
    for cell in reviewed.cells:
        for number, line in enumerate(cell.source.split("\n"), 1):
            if what := _by_look(line) or (_by_name(line) if cell.is_code else ""):
                comment = f"{what} is in plain text here."
                yield ReviewRemark("critical", comment, _ADVICE, cell, number)


def _by_look(line: str) -> str:
    for found in _KEYS.finditer(line):
        if not _is_made_up(found[0]):
            return "A password in an address" if "://" in found[0] else "A key"
    return ""


def _is_made_up(found: str) -> bool:
    """Placeholders and examples."""
    if "://" in found:
        password = found.rpartition("@")[0].rpartition(":")[2]
        return bool(_NO_SECRET.search(password)) or password.lower() in ("password", "pass", "pw")
    plain = found.rpartition("-")[2] if found.startswith("sk-") else found
    few = len(set(plain)) <= 4
    return few or bool(re.search(r"your|example|xxx|\.\.\.|•••", found, re.IGNORECASE))


def _by_name(line: str) -> str:
    """`password = "…"`, `connect(token="…")`, also in comments."""
    for name, value, magic, magic_value in _NAMED.findall(line):
        if _NAMES.search(name or magic) and _is_secret(value or magic_value):
            return f"The value of `{name or magic}`"
    return ""


def _is_secret(value: str) -> bool:
    return is_real_key(value) and not _NO_SECRET.search(value) and len(set(value)) > 4
