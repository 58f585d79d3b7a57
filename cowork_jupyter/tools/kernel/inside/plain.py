"""Inspects values without running their code, and redacts secrets."""

from __future__ import annotations

import re
import sys
from typing import Any

HIDDEN = "[hidden]"

_own_name = type.__dict__["__name__"].__get__
_own_module = type.__dict__["__module__"].__get__
_own_bases = type.__dict__["__mro__"].__get__
_own_members = type.__dict__["__dict__"].__get__
_SLOT = type(type.__dict__["__dict__"])

_SECRET_NAME = re.compile(
    r"(?:^|[\W_]|(?<=[a-z])(?=[A-Z]))"
    r"(?i:password|passwd|passphrase|pwd|secret|token|credential|api_?key|"
    r"(?:private|access|auth|account|signing|encryption)_?key|authorization)"
    r"s?(?:$|[\W_\d]|(?=[A-Z]))"
)
_SECRET_VALUE = re.compile(
    r"\bsk-[\w-]{8,}"
    r"|(?<=[Bb]earer )[\w.~+/=-]{8,}"
    r"|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}"
    r"|\bhf_[A-Za-z0-9]{20,}"
    r"|\bxox[abeoprs]-[\w-]{10,}"
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bAIza[\w-]{30,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"
    r"|(?<=://)[^\s/:@]*:[^\s/@]+(?=@)"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----|[\s\S]*)"
)


def type_name(value: Any) -> str:
    """`pandas.DataFrame`, `int`, `Customer`."""
    return class_name(type(value))


def class_name(kind: type) -> str:
    name: str = _own_name(kind)
    module = _own_module(kind)
    package = module.split(".")[0] if type(module) is str else ""
    return name if package in ("builtins", "__main__", "") else package + "." + name


def is_a(value: Any, kind: type) -> bool:
    """Like `isinstance`, which may ask the value for its `__class__`."""
    return any(base is kind for base in _own_bases(type(value)))


def is_exactly(value: Any, module: str, name: str) -> bool:
    """Whether it is of exactly this class of a library that is loaded."""
    loaded = sys.modules.get(module)
    is_loaded = loaded is not None and type(loaded.__dict__) is dict
    return is_loaded and type(value) is loaded.__dict__.get(name)


def attributes(value: Any) -> dict[str, Any]:
    """The instance `__dict__`, read past everything that its class defines."""
    for kind in _own_bases(type(value)):
        slot = _own_members(kind).get("__dict__")
        if slot is not None:
            namespace = slot.__get__(value) if type(slot) is _SLOT else None
            return namespace if type(namespace) is dict else {}
    return {}


def is_secret_name(name: Any) -> bool:
    return type(name) is str and _SECRET_NAME.search(name[:200]) is not None


def mask_secrets(text: str) -> str:
    """Redact what looks like a key."""
    return _SECRET_VALUE.sub(HIDDEN, text)


def size_text(count: float) -> str:
    for unit in ("bytes", "KB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return ("%d %s" if unit == "bytes" else "%.1f %s") % (count, unit)
        count /= 1000
    return ""
