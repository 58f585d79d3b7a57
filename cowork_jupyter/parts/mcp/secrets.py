"""Values from the user's environment, and masking them wherever they are displayed."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from ...domain.redaction import HIDDEN, MIN_LENGTH
from .config import ServerEntry

_REFERENCE = re.compile(r"\$\{(?:env:)?(?P<name>[A-Za-z_]\w*)(?::-(?P<default>[^}]*))?\}")
_WORKSPACE = "workspaceFolder"
_NO_SECRETS = frozenset(
    {"HOME", "USER", "LOGNAME", "PWD", "PATH", "LANG", "SHELL", "TMPDIR", "TERM", "HOSTNAME"}
    | {_WORKSPACE}
)
_SUSPICIOUS = re.compile(r"key|token|secret|passw|credential|auth|bearer|cookie|private", re.I)


class VariableMissing(ValueError):
    pass


@dataclass(frozen=True)
class Resolved:
    """A server's entry with real values. Never displayed, stored or logged."""

    command: str
    args: list[str]
    env: dict[str, str]
    cwd: str
    url: str
    headers: dict[str, str]
    secrets: frozenset[str] = field(repr=False)

    def program(self) -> str | None:
        """The executable, if it exists. Paths are relative to the server's working directory."""
        command = os.path.expanduser(self.command)  # noqa: PTH111
        if os.path.dirname(command):  # noqa: PTH120
            command = os.path.join(self.cwd, command)  # noqa: PTH118
        return shutil.which(command, path=self.env.get("PATH", os.environ.get("PATH")))


def resolve(entry: ServerEntry, environment: Mapping[str, str], workspace: str) -> Resolved:
    """Substitute `${NAME}` and `${NAME:-default}` from the environment."""
    secrets: set[str] = set()
    known = {**environment, _WORKSPACE: workspace}

    def fill(text: str, *, secret: bool = False) -> str:
        def value_of(found: re.Match[str]) -> str:
            name, default = found["name"], found["default"]
            value = known.get(name, default)
            if value is None:
                raise VariableMissing(f"it needs the environment variable {name}, which is not set")
            if name not in _NO_SECRETS and name in known:
                secrets.add(value)
            return value

        result = _REFERENCE.sub(value_of, text)
        if secret:
            secrets.update({result, *result.split()})  # as in `Bearer abc`
        return result

    url, env = fill(entry.url), entry.env.items()
    secrets.update(part for part in _credentials(url) if part)
    return Resolved(
        command=fill(entry.command),
        args=[fill(arg) for arg in entry.args],
        env={name: fill(value, secret=bool(_SUSPICIOUS.search(name))) for name, value in env},
        cwd=os.path.join(workspace, os.path.expanduser(fill(entry.cwd))),  # noqa: PTH111, PTH118
        url=url,
        headers={name: fill(value, secret=True) for name, value in entry.headers.items()},
        secrets=frozenset(secret for secret in secrets if len(secret) >= MIN_LENGTH),
    )


def _credentials(url: str) -> Iterable[str]:
    parts = urlsplit(url)
    yield parts.password or ""
    for pair in parts.query.split("&"):
        name, _, value = pair.partition("=")
        if _SUSPICIOUS.search(name):
            yield value


def masked_entry(entry: ServerEntry) -> dict[str, Any]:
    """For display: references stay, values that may be secret are hidden."""
    fields = entry.model_dump(mode="json", exclude_defaults=True)
    for part in ("env", "headers"):
        if part in fields:
            fields[part] = {name: _masked(value) for name, value in fields[part].items()}
    if entry.args:
        fields["args"] = _masked_args(entry.args)
    if entry.url:
        fields["url"] = _masked_url(entry.url)
    return fields


def _masked(value: str) -> str:
    return value if _REFERENCE.fullmatch(value) and ":-" not in value else HIDDEN


def _masked_args(args: list[str]) -> list[str]:
    masked, hide = [], False
    for arg in args:
        name, equals, value = arg.partition("=")
        option = arg.startswith("-") and bool(_SUSPICIOUS.search(name))
        if hide:
            masked.append(_masked(arg))
        else:
            masked.append(f"{name}={_masked(value)}" if option and equals else arg)
        hide = option and not equals
    return masked


def _masked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return HIDDEN
    place = parts.netloc.rpartition("@")[2]
    netloc = f"{HIDDEN}@{place}" if "@" in parts.netloc else place
    pairs = (pair.partition("=") for pair in parts.query.split("&") if pair)
    query = "&".join(f"{name}{equals}{_masked(value)}" for name, equals, value in pairs)
    return urlunsplit((parts.scheme, netloc, parts.path, query, ""))
