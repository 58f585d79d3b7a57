"""`settings.json`: rules of a folder or a user, beside other settings; and `--policy` files."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..domain.errors import Conflict, CoworkError, InvalidInput
from ..workspace.no_follow import remember
from .rules import Effect

MAX_SIZE = 1_000_000
_AT_ONCE = getattr(os, "O_NONBLOCK", 0)  # Windows has no pipes among its files


class SettingsFile:
    """One file, re-read only when it has changed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen: tuple[int, ...] | None = None
        self._content: dict[str, Any] = {}
        self.problem: str | None = None
        """Why the file cannot be read."""

    def content(self) -> dict[str, Any]:
        mark = self._mark()
        if mark != self._seen:
            self._seen = mark
            self._content, self.problem = self._read() if mark else ({}, None)
        return self._content

    def rules(self) -> Iterator[tuple[Effect, str]]:
        permissions = self.content().get("permissions", {})
        for effect in Effect:
            for text in permissions.get(effect.value, ()):
                yield effect, text

    def add(self, effect: Effect, text: str) -> None:
        self._change(effect, lambda texts: [*texts, text] if text not in texts else texts)

    def remove(self, effect: Effect, text: str) -> None:
        self._change(effect, lambda texts: [other for other in texts if other != text])

    def set(self, name: str, value: object) -> None:
        """Replace one section, or remove it with None; everything else is kept."""
        content = {**self._sound(), name: value}
        self._store({key: setting for key, setting in content.items() if setting is not None})

    def _change(self, effect: Effect, change: Any) -> None:
        content = self._sound()
        permissions = {**content.get("permissions", {})}
        permissions[effect.value] = change(list(permissions.get(effect.value, [])))
        self._store({**content, "permissions": permissions})

    def _sound(self) -> dict[str, Any]:
        """The content to change; raises Conflict rather than overwrite a file that cannot be
        read.
        """
        content = self.content()
        if self.problem:
            raise Conflict(f"{self.problem} Fix or remove the file first.", code="settings_broken")
        return content

    def _store(self, content: dict[str, Any]) -> None:
        try:
            self._write(content)
        except OSError as error:
            why = f"Cannot write {self.path}: {error.strerror}."
            raise CoworkError(why, code="settings_not_writable") from error

    def _write(self, content: dict[str, Any]) -> None:
        folder = self.path.parent
        folder.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=folder, prefix=".settings-")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(content, file, indent=2, ensure_ascii=False)
                file.write("\n")
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self.path)
            remember(self.path.stat())
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                Path(name).unlink()
            raise

    def _mark(self) -> tuple[int, ...] | None:
        try:
            facts = self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError:
            return ()
        return facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns

    def _bytes(self) -> bytes:
        """Non-blocking, because a folder may contain a pipe of that name."""
        descriptor = os.open(self.path, os.O_RDONLY | _AT_ONCE)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise ValueError("it is not a file")
            return file.read(MAX_SIZE + 1)

    def _read(self) -> tuple[dict[str, Any], str | None]:
        try:
            raw = self._bytes()
            if len(raw) > MAX_SIZE:
                raise ValueError("it is too large")
            content = json.loads(raw)
            _check(content)
        except (OSError, ValueError, RecursionError) as error:
            return {}, f"Cannot read the settings in {self.path}: {error}."
        return content, None


def check_policy(content: object) -> Iterator[tuple[Effect, str]]:
    """The rules of a policy; raises ValueError if it is invalid."""
    _check(content)
    assert isinstance(content, dict)
    for effect in Effect:
        for text in content.get("permissions", {}).get(effect.value, ()):
            yield effect, text


def _check(content: object) -> None:
    """Checks only our part of the file."""
    if not isinstance(content, dict):
        raise ValueError("it is not a JSON object")
    permissions = content.get("permissions", {})
    if not isinstance(permissions, dict):
        raise ValueError("'permissions' is not an object")
    unknown = set(permissions) - {effect.value for effect in Effect}
    if unknown:
        raise ValueError(f"'permissions' has no '{min(unknown)}', only allow, ask and deny")
    for name, texts in permissions.items():
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise ValueError(f"'permissions.{name}' is not a list of rules")


_FORM = 'It should contain {"permissions": {"allow": [], "ask": [], "deny": []}}.'


def read_policy(path: str) -> dict[str, Any]:
    """The rules in a JSON or (by its ending) TOML file, not validated yet."""
    try:
        text = Path(path).expanduser().read_text(encoding="utf-8")
        found = tomllib.loads(text) if path.endswith(".toml") else json.loads(text)
    except OSError as error:
        why = error.strerror or "it cannot be opened"
        raise InvalidInput(f"Cannot read the policy file {path}: {why}.") from None
    except ValueError as error:
        raise InvalidInput(f"Cannot read the policy file {path}: {error}.") from None
    if not isinstance(found, dict) or not isinstance(found.get("permissions"), dict):
        raise InvalidInput(f"The policy file {path} has no rules. {_FORM}")
    return found
