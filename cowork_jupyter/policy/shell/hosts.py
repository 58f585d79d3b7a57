"""The hosts that a network command talks to, as far as its words tell.

The hosts are complete only if all flags of a program are known. Otherwise the visible ones are
returned together with `ANY_HOST`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from .git import SUB_COMMANDS
from .lexer import Word
from .options import Flags
from .programs import PROGRAMS, program_name

ANY_HOST = "*"
"""An unknown host."""
PACKAGE_INDEX = "pypi.org"

HOST = re.compile(
    r"(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)*(?=[a-z0-9-]*[a-z])[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"
    r"|(?:\d{1,3}\.){3}\d{1,3}|[0-9a-f]*:[0-9a-f:.]+"
)
"""A name or a usual address; nobody can read `0x7f.1` or `2130706433`."""
_URL = re.compile(r"(?i)(?:git\+)?[a-z][a-z0-9.]*(?:\+[a-z0-9]+)?://\S+")
_OVER_SSH = re.compile(r"(?:[^@/:\s]+@)?([^@/:\s]+):(?!//).*")
_REMOTE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
_PACKAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(?:\[[\w,-]+\])?(?:[=<>!~]=?[\w.*,<>=!~]+)?")

_COPY = Flags("46BCpqrTv")
_LOGIN = Flags("46AaCkNnqTtvxp:l:", "")
_TALK = Flags("46nuvzw:", "")
_PIP = Flags(
    "Uqv", "upgrade quiet user no-deps pre no-input no-cache-dir disable-pip-version-check"
)


def hosts_of(words: Sequence[str]) -> tuple[str, ...]:
    """Contains `ANY_HOST` if there may be others."""
    name, rest = program_name(words[0]), [Word(text, text) for text in words[1:]]
    hosts = _READERS[name](rest) if name in _READERS else None
    if not hosts:
        hosts = [*(_of_url(text) for text in words[1:] if _URL.fullmatch(text)), ANY_HOST]
    return tuple(dict.fromkeys(hosts))


def remote_of(words: Sequence[str]) -> str:
    """The remote that a git command names, or ""."""
    if len(words) < 2 or program_name(words[0]) != "git" or words[1] not in SUB_COMMANDS:
        return ""
    parsed = SUB_COMMANDS[words[1]].flags.parse([Word(text, text) for text in words[2:]])
    name = parsed.operands[0].text if parsed.operands else ""
    return name if not parsed.unknown and _REMOTE.fullmatch(name) else ""


def host_of_remote(url: str) -> str:
    return _over_ssh(url) or ANY_HOST


def normalize_host(host: str) -> str:
    """Normalise a host; `ANY_HOST` for what is none, or is written to deceive."""
    plain = host.strip("[]").lower().rstrip(".")
    return plain if HOST.fullmatch(plain) else ANY_HOST


def _of_url(text: str) -> str:
    try:
        return normalize_host(urlsplit(text).hostname or "")
    except ValueError:
        return ANY_HOST


def _of_address(text: str) -> str:
    """Programs that fetch read `example.org/x` as a web address, but not `host:path`."""
    plain = "\\" not in text and "{" not in text and "[" not in text
    return _of_url(text if "://" in text else f"http://{text}") if plain else ANY_HOST


def _fetched(name: str) -> Callable[[list[Word]], list[str]]:
    """For programs whose operands are addresses; so is a proxy."""

    def read(rest: list[Word]) -> list[str]:
        flags = PROGRAMS[name].flags
        assert flags is not None
        parsed = flags.parse(rest)
        if parsed.unknown:
            return []
        proxies = parsed.values("-x") if name == "curl" else []
        return [
            _of_address(text) for text in (*(operand.text for operand in parsed.operands), *proxies)
        ]

    return read


def _over_ssh(text: str) -> str | None:
    """The host of `user@host:path`; None for a local path."""
    if "://" in text:
        return _of_url(text)
    match = _OVER_SSH.fullmatch(text)
    return normalize_host(match[1]) if match else None


def _copied(flags: Flags | None) -> Callable[[list[Word]], list[str]]:
    def read(rest: list[Word]) -> list[str]:
        assert flags is not None
        parsed = flags.parse(rest)
        if parsed.unknown:
            return []
        return [host for operand in parsed.operands if (host := _over_ssh(operand.text))]

    return read


def _first_operand(flags: Flags) -> Callable[[list[Word]], list[str]]:
    def read(rest: list[Word]) -> list[str]:
        parsed = flags.parse(rest, permuted=False)
        if parsed.unknown or not parsed.operands:
            return []
        return [normalize_host(parsed.operands[0].text.rpartition("@")[2])]

    return read


def _git(rest: list[Word]) -> list[str]:
    """The host of a named remote is not in the words; see `remote_of`."""
    sub = SUB_COMMANDS.get(rest[0].text) if rest else None
    parsed = sub.flags.parse(rest[1:]) if sub else None
    if parsed is None or parsed.unknown or not parsed.operands:
        return []
    host = _over_ssh(parsed.operands[0].text)
    return [host] if host else []


def _pip(rest: list[Word]) -> list[str]:
    """Plain package names come from the index; files and addresses may be anything."""
    if not rest or rest[0].text not in ("install", "download", "wheel"):
        return []
    parsed = _PIP.parse(rest[1:])
    named = [operand.text for operand in parsed.operands]
    is_plain = bool(named) and not parsed.unknown and all(map(_PACKAGE.fullmatch, named))
    return [PACKAGE_INDEX] if is_plain else []


_READERS: dict[str, Callable[[list[Word]], list[str]]] = {
    **{name: _fetched(name) for name in ("curl", "wget", "ping")},
    "rsync": _copied(PROGRAMS["rsync"].flags),
    **dict.fromkeys(("scp", "sftp"), _copied(_COPY)),
    "ssh": _first_operand(_LOGIN),
    **dict.fromkeys(("nc", "ncat", "netcat", "telnet"), _first_operand(_TALK)),
    "git": _git,
    "pip": _pip,
}
