"""`doctor --bundle`: what a bug report needs, in one archive, without anything of the user's.

Whatever is in it was chosen, not filtered: numbers, versions, and words of a fixed list. Only
the doctor's own sentences and log lines are texts, and those lose all that could name something.
"""

from __future__ import annotations

import io
import json
import os
import platform
import sqlite3
import sys
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, fields
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any, Literal, get_origin, get_type_hints
from urllib.parse import urlsplit

from packaging.requirements import Requirement
from traitlets.config import Config

from ..._version import __version__
from ...connections import Connections
from ...domain.errors import InvalidInput
from ...domain.settings import Settings
from ..config import OPENAI_URL
from .anonymous import Anonymous
from .bundled_log import log_tail
from .bundled_record import checkpoint_facts, database_facts, job_shapes
from .finding import DoctorFinding, Promise

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
    """Make the archive; only whoever made it can read it."""
    anonymous = Anonymous.of(settings, Connections(settings).secrets())
    parts: dict[str, Callable[[], Any]] = {
        "versions.json": _versions,
        "settings.json": lambda: _settings(settings),
        "health.json": lambda: _health(findings, promises, anonymous),
        "database.json": lambda: {**database_facts(settings), **checkpoint_facts(settings)},
        "jobs.json": lambda: job_shapes(settings),
        "log.txt": lambda: log_tail(jupyter),
    }
    made = {"README.txt": CONTENTS} | {name: _text(part) for name, part in parts.items()}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in made.items():
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
    """What is broken must not hide the rest, which is there to tell why."""
    try:
        value = part()
    except Exception as error:
        value = {"unavailable": type(error).__name__}
    return value if isinstance(value, str) else json.dumps(value, indent=2) + "\n"


def _versions() -> dict[str, Any]:
    needed = {Requirement(text).name for text in requires("cowork-jupyter") or ()}
    found = {name: _version_of(name) for name in sorted({*needed, *_ALSO})}
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
            name: package_version for name, package_version in found.items() if package_version
        },
    }


def _version_of(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


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
    """What kind of address it is."""
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
    findings: Iterable[DoctorFinding], promises: Iterable[Promise], anonymous: Anonymous
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
