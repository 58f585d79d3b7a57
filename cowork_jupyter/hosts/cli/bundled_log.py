"""The end of Jupyter's log file, if it writes one: operations, and places in our own code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from traitlets.config import Config

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
    """What of the newest lines can be told; nothing where there is no file."""
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
        if found := _OPERATION.search(line):
            when = _TIME.search(line[: found.start()])
            said = found["operation"] + _CHOSEN.sub("", found["fields"])
            yield f"{when[0]} {said}" if when else said
        elif found := _FRAME.search(line):
            yield f"  {found['file']}:{found['line']}"
        elif found := _ERROR.search(line):
            yield f"  {found['name']}"
