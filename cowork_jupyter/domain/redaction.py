"""Redacts keys and passwords in whatever is stored, shown, logged or sent."""

from __future__ import annotations

import base64
import logging
import re
from collections.abc import Iterable
from typing import Any, TypeVar
from urllib.parse import quote

HIDDEN = "•••"
MIN_LENGTH = 4
"""Hiding shorter values would tear holes into everything."""
KEY_PATTERNS = (
    r"\bsk-[\w-]{8,}",
    r"(?<=[Bb]earer )(?:(?=\S*\d)[\w.~+/=-]{8,}|[\w.~+/=-]{20,})",
    r"\bgh[pousr]_\w{20,}",
    r"\bgithub_pat_\w{20,}",
    r"\bhf_[A-Za-z0-9]{20,}",
    r"\bxox[abeoprs]-[\w-]{10,}",
    r"\bAKIA[0-9A-Z]{16}\b",
)
_SURELY_A_KEY = 16
_PERHAPS_A_KEY = 8


def is_real_key(value: str) -> bool:
    """False for made-up keys of local servers such as `ollama`, which are also words."""
    has_digit = any(sign.isdigit() for sign in value)
    return len(value) >= (_PERHAPS_A_KEY if has_digit else _SURELY_A_KEY)


def without_credentials(address: str) -> str:
    """Strip user, password and query from a URL."""
    return re.sub(r"//[^/]*@", "//", address).partition("?")[0]


class Mask:
    """Hides secrets, also in encoded forms."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._forms: tuple[str, ...] = ()
        self._pattern = re.compile("")
        self.add(secrets)

    def add(self, secrets: Iterable[str]) -> None:
        forms = {*self._forms, *(form for secret in secrets if secret for form in _forms(secret))}
        self._forms = tuple(sorted(forms, key=len, reverse=True))
        self._pattern = re.compile("|".join(map(re.escape, self._forms)))

    def __call__(self, text: str) -> str:
        # A substring test is much faster than the pattern, and nearly always enough.
        if not any(form in text for form in self._forms):
            return text
        return self._pattern.sub(HIDDEN, text)

    def everywhere(self, value: Any) -> Any:
        if not self._forms:
            return value
        if isinstance(value, str):
            return self(value)
        if isinstance(value, dict):
            return {self(str(key)): self.everywhere(item) for key, item in value.items()}
        return [self.everywhere(item) for item in value] if isinstance(value, list) else value

    def partial_length(self, text: str) -> int:
        """Length of the text's end that could be the beginning of a secret."""
        longest = len(self._forms[0]) - 1 if self._forms else 0
        return next(
            (
                length
                for length in range(min(longest, len(text)), 0, -1)
                if any(form.startswith(text[-length:]) for form in self._forms)
            ),
            0,
        )


class MaskedStream:
    """Redacts text that arrives in pieces, also secrets that span them."""

    def __init__(self, mask: Mask) -> None:
        self._mask = mask
        self._waiting = ""

    def add(self, text: str) -> str:
        """Return what can be shown now; what may be the beginning of a secret is held back."""
        text = self._mask(self._waiting + text)
        kept = len(text) - self._mask.partial_length(text)
        self._waiting = text[kept:]
        return text[:kept]

    def rest(self) -> str:
        rest, self._waiting = self._waiting, ""
        return rest


class LogRedaction(logging.Handler):
    """Redacts our log records before handlers further up write them anywhere."""

    def __init__(self, mask: Mask, logger: logging.Logger) -> None:
        super().__init__()
        self._mask = mask
        self._logger = logger
        self._formatter = logging.Formatter()

    def emit(self, record: logging.LogRecord) -> None:
        """Changes the record in place, because other handlers get the same."""
        record.msg, record.args = self._mask(record.getMessage()), None
        if record.exc_info:
            record.exc_text = self._mask(self._formatter.formatException(record.exc_info))
        # Python prints warnings that nobody handles. Redacting them is not handling them.
        last = logging.lastResort
        if last and record.levelno >= last.level and self._is_last_hand():
            last.handle(record)

    def _is_last_hand(self) -> bool:
        """Whether no other redaction and no writing handler comes after us."""
        logger: logging.Logger | None = self._logger
        ours = [handler for handler in self._logger.handlers if isinstance(handler, LogRedaction)]
        while logger:
            if any(not isinstance(handler, LogRedaction) for handler in logger.handlers):
                return False
            logger = logger.parent if logger.propagate else None
        return ours[-1] is self


def _forms(secret: str) -> Iterable[str]:
    encoded = base64.b64encode(secret.encode("utf-8", "replace")).decode().rstrip("=")
    return {secret, quote(secret, safe=""), secret.replace("\\", "\\\\").replace('"', '\\"')} | (
        {encoded} if len(secret) >= 2 * MIN_LENGTH else set()
    )


T = TypeVar("T")


def without_surrogates(value: T) -> T:
    """Join surrogate pairs, and replace lone halves, which UTF-8 cannot encode."""
    return _repaired(value)  # type: ignore[no-any-return]


def _repaired(value: Any) -> Any:
    if isinstance(value, str):
        return _repaired_text(value)
    if isinstance(value, dict):
        return {_repaired(key): _repaired(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_repaired(item) for item in value]
    return value


def _repaired_text(text: str) -> str:
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
