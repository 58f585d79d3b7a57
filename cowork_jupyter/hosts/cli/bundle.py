"""`doctor --bundle`: what a bug report needs, in one archive, without anything of the user's.

Whatever is in it was chosen, not filtered: numbers, versions, and words of a fixed list. Only the
doctor's own sentences and log lines are texts, and those lose all that could name something.
"""

from __future__ import annotations

import getpass
import io
import json
import os
import platform
import re
import socket
import sqlite3
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import MISSING, Field, dataclass, fields
from importlib.metadata import requires
from pathlib import Path
from typing import Any, Literal, get_origin, get_type_hints
from urllib.parse import urlsplit

from packaging.requirements import Requirement
from traitlets.config import Config

from ..._version import __version__
from ...domain.errors import InvalidInput
from ...domain.health import DoctorFinding
from ...domain.settings import Settings
from ...record import Redactor
from ...service.connections import Connections
from ..config import OPENAI_URL
from .bundled_record import checkpoint_facts, database_facts, job_shapes
from .installation import Promise, version_of

CONTENTS = """What is in this archive, for a bug report about Cowork:

versions.json   this program, Python, the platform, and the packages that it uses
settings.json   numbers and choices; for texts, only whether they are set
health.json     what `jupyter cowork doctor` found
database.json   version, sizes, number of rows, and whether the files are intact
jobs.json       the newest jobs: kinds, statuses, durations, tools and error codes
log.txt         operations and places in our code, if Jupyter logs to a file

It contains no keys, messages, file names, paths, addresses or names of people.
Look through it before you send it.
"""

_ALSO = ("jupyter_server", "jupyter_client", "ipykernel", "notebook", "tornado", "traitlets")
_WITH_MESSAGE = {
    *("version", "packages", "jupyterlab", "lab extension", "server extension", "port"),
    *("sandbox", "folders", "database", "checkpoints"),
}
"""Findings whose sentence is ours alone. Others may quote rules, servers and models' servers."""
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
_OWNER_ONLY = 0o600


def write_bundle(
    file: Path,
    settings: Settings,
    jupyter: Config,
    findings: Iterable[DoctorFinding],
    promises: Iterable[Promise],
) -> None:
    """Only its owner can read the archive."""
    anonymous = Anonymizer.of(settings, Connections(settings).secrets())
    parts: dict[str, Callable[[], Any]] = {
        "versions.json": _versions,
        "settings.json": lambda: _settings(settings),
        "health.json": lambda: _health(findings, promises, anonymous),
        "database.json": lambda: {**database_facts(settings), **checkpoint_facts(settings)},
        "jobs.json": lambda: job_shapes(settings),
        "log.txt": lambda: log_tail(jupyter),
    }
    texts = {"README.txt": CONTENTS} | {name: _text(part) for name, part in parts.items()}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in texts.items():
            if text:
                archive.writestr(name, text if name == "README.txt" else anonymous.clean(text))
    try:
        written = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY)
    except FileExistsError:
        raise InvalidInput(f"{file} already exists. Choose another name.") from None
    except OSError as error:
        raise InvalidInput(f"{file} cannot be written: {error.strerror}.") from None
    with os.fdopen(written, "wb") as out:
        out.write(packed.getvalue())


def _text(part: Callable[[], Any]) -> str:
    """A broken part must not hide the rest, which may tell why."""
    try:
        value = part()
    except Exception as error:
        value = {"unavailable": type(error).__name__}
    return value if isinstance(value, str) else json.dumps(value, indent=2) + "\n"


def _versions() -> dict[str, Any]:
    needed = {Requirement(text).name for text in requires("cowork-jupyter") or ()}
    versions = {name: version_of(name) for name in sorted({*needed, *_ALSO})}
    return {
        "cowork-jupyter": __version__,
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "libc": " ".join(platform.libc_ver()),
        "sqlite": sqlite3.sqlite_version,
        "processors": os.cpu_count(),
        "in_a_virtual_environment": sys.prefix != sys.base_prefix,
        "packages": {
            name: package_version for name, package_version in versions.items() if package_version
        },
    }


def _settings(settings: Settings) -> dict[str, Any]:
    kinds = get_type_hints(Settings)
    declared = [field for field in fields(Settings) if "help" in field.metadata]
    values = {
        setting.name: _safe_value(setting, kinds[setting.name], settings) for setting in declared
    }
    used = sorted(name for name in os.environ if name.startswith(("COWORK_", "OPENAI_")))
    return {**values, "base_url": _address(settings.base_url), "environment_has": used}


def _safe_value(declared: Field[Any], kind: Any, settings: Settings) -> Any:
    value = getattr(settings, declared.name)
    if kind in (int, float, bool, float | None) or get_origin(kind) is Literal:
        return value
    usual = declared.default
    if usual is MISSING and declared.default_factory is not MISSING:
        usual = declared.default_factory()
    return "default" if value == usual else "set"


def _address(base_url: str) -> str:
    if not base_url:
        return "not set"
    if base_url.rstrip("/") == OPENAI_URL:
        return "OpenAI"
    try:
        host = urlsplit(base_url).hostname
    except ValueError:
        return "not an address"
    return "this machine" if host in _LOOPBACK else "another machine"


def _health(
    findings: Iterable[DoctorFinding], promises: Iterable[Promise], anonymous: Anonymizer
) -> dict[str, Any]:
    checks = [
        {"name": finding.name, "ok": finding.ok}
        | (
            {"message": anonymous.sentence(finding.message)}
            if finding.name in _WITH_MESSAGE
            else {}
        )
        for finding in findings
    ]
    held = [
        {"holds": promise.holds, "text": anonymous.sentence(promise.text)} for promise in promises
    ]
    return {"checks": checks, "promises": held}


MAX_BYTES = 4 * 1024 * 1024
MAX_LINES = 1000

_APPLICATIONS = ("ServerApp", "LabApp", "JupyterApp", "Application")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?")
_OPERATION = re.compile(
    r"(?:^|[\s:])(?P<operation>(?:job job_\w+ (?:started|ended)|model called|tool call_\w+ ended"
    r"|decision call_\w+ (?:allow|ask|deny)|checkpoint cp_\w+ taken|rollback cp_\w+ done"
    r"|mcp server (?:started|ended|failed)|mcp sampling ended))"
    r"(?P<fields>(?: \w+=(?:\"[^\"]*\"|[^\s\"]+))*)$"
)
_FRAME = re.compile(
    r"^\s*File \".*?(?P<file>cowork_jupyter[/\\][\w/\\]+\.py)\", line (?P<line>\d+)"
)
_ERROR = re.compile(r"^(?:[A-Za-z_]\w*\.)*(?P<name>[A-Z]\w*(?:Error|Exception|Interrupt))\b")
_CHOSEN = re.compile(r" (?:server|model)=(?:\"[^\"]*\"|[^\s\"]+)")
"""Names that the user gave."""


def log_tail(jupyter: Config) -> str:
    """The newest lines, reduced to operations and places in our code; empty without a log file."""
    lines = [line for file in _log_files(jupyter) for line in _operations(_end_of(file))]
    return "".join(f"{line}\n" for line in lines[-MAX_LINES:])


def _log_files(jupyter: Config) -> Iterator[Path]:
    for application in _APPLICATIONS:
        handlers = dict(jupyter.get(application, {})).get("logging_config", {}).get("handlers", {})
        for handler in handlers.values():
            file = Path(str(handler.get("filename") or "")).expanduser()
            if file.is_file():
                yield file


def _end_of(file: Path) -> list[str]:
    with file.open("rb") as log:
        log.seek(max(0, file.stat().st_size - MAX_BYTES))
        return log.read().decode("utf-8", "replace").splitlines()


def _operations(lines: list[str]) -> Iterator[str]:
    for line in lines:
        if match := _OPERATION.search(line):
            when = _TIME.search(line[: match.start()])
            operation = match["operation"] + _CHOSEN.sub("", match["fields"])
            yield f"{when[0]} {operation}" if when else operation
        elif match := _FRAME.search(line):
            yield f"  {match['file']}:{match['line']}"
        elif match := _ERROR.search(line):
            yield f"  {match['name']}"


HIDDEN = "[hidden]"
_MIN_NAME_LENGTH = 3
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s'\"]+")
_QUOTED = re.compile(r"'[^'\n]*'|“[^”\n]*”|`[^`\n]*`|\"[^\"\n]*\"")
_PATH = re.compile(r"(?<![\w.])(?:~|\.{1,2}|[A-Za-z]:)?[/\\][^\s,;'\"]+")


@dataclass(frozen=True)
class Anonymizer:
    """Removes whatever could name a person, a place or a file."""

    redactor: Redactor
    places: Sequence[str]
    """Folders and files, the longest first."""
    names: re.Pattern[str]

    @classmethod
    def of(cls, settings: Settings, keys: Sequence[str]) -> Anonymizer:
        paths = [settings.workspace, settings.database, settings.data_dir, Path.cwd()]
        paths += [path for path in (settings.config_dir, _home()) if path]
        paths += [path.parent for path in paths] + [path.resolve() for path in paths]
        places = {str(path) for path in paths if len(path.parts) > 1}
        long_names = {name for name in _names() if len(name) >= _MIN_NAME_LENGTH}
        ordered = sorted(map(re.escape, long_names), key=len, reverse=True)
        names = re.compile(rf"(?<!\w)(?:{'|'.join(ordered) or '(?!)'})(?!\w)", re.IGNORECASE)
        redactor = Redactor.of(settings, [*keys, *settings.keys.values()])
        return cls(redactor, sorted(places, key=len, reverse=True), names)

    def clean(self, text: str) -> str:
        """Remove keys, folders of this user, and their name."""
        for place in self.places:
            text = text.replace(place, HIDDEN)
        return self.names.sub(HIDDEN, self.redactor.clean(text))

    def sentence(self, text: str) -> str:
        """Also remove anything quoted, paths and addresses."""
        text = self.clean(text)
        for pattern in (_ADDRESS, _QUOTED, _PATH):
            text = pattern.sub(HIDDEN, text)
        return text


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:  # some users have none
        return None


def _names() -> set[str]:
    """What the user and the machine are called."""
    names = {socket.gethostname(), socket.gethostname().partition(".")[0]}
    names |= {os.environ.get(name, "") for name in ("USER", "LOGNAME", "USERNAME")}
    with suppress(OSError, KeyError, ImportError):
        names.add(getpass.getuser())
    if home := _home():
        names.add(home.name)
    if user := os.environ.get("JUPYTERHUB_USER"):
        names.add(user)
    return names
