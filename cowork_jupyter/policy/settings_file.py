"""Settings files: rules of a folder, a user or an administrator, beside other settings.

An administrator's file, for all users of a machine, is only read. It counts if it belongs to root
or to the owner of the Python environment, and if the user cannot have written it: neither it nor
any folder above it is writable for them. For root, who can write everything, the owner alone
decides. What an agent could write must never count here.
"""

from __future__ import annotations

import contextlib
import fnmatch
import json
import os
import stat
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..domain.errors import Conflict, CoworkError, Forbidden, InvalidInput
from ..domain.health import Problem
from ..domain.settings import BUILT_IN, Price
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
        return _rules_in(self.content())

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
    yield from _rules_in(content)


def _rules_in(content: dict[str, Any]) -> Iterator[tuple[Effect, str]]:
    permissions = content.get("permissions", {})
    for effect in Effect:
        for text in permissions.get(effect.value, ()):
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
        policy = tomllib.loads(text) if path.endswith(".toml") else json.loads(text)
    except OSError as error:
        why = error.strerror or "it cannot be opened"
        raise InvalidInput(f"Cannot read the policy file {path}: {why}.") from None
    except ValueError as error:
        raise InvalidInput(f"Cannot read the policy file {path}: {error}.") from None
    if not isinstance(policy, dict) or not isinstance(policy.get("permissions"), dict):
        raise InvalidInput(f"The policy file {path} has no rules. {_FORM}")
    return policy


WHO = "Your administrator"
ROOT = 0


class DayLimits(BaseModel):
    """Per user; 0 is no limit."""

    model_config = ConfigDict(extra="forbid")

    tokens_per_day: Annotated[int, Field(ge=0)] = 0
    money_per_day: Annotated[float, Field(ge=0)] = 0.0

    def __bool__(self) -> bool:
        return bool(self.tokens_per_day or self.money_per_day)


class _Sections(BaseModel):
    models: list[str] | None = None
    """Names or patterns such as `gpt-5*`; None allows all models."""
    prices: dict[str, Price] = {}
    limits: DayLimits = DayLimits()


class AdministratorFile(SettingsFile):
    """A file that is ignored if the user could have written it."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.sections = _Sections()

    @property
    def is_ignored(self) -> bool:
        return super()._mark() is not None and not is_beyond_user(self.path)

    def _mark(self) -> tuple[int, ...] | None:
        mark = super()._mark()
        return mark if mark is None or is_beyond_user(self.path) else None

    def content(self) -> dict[str, Any]:
        """If the file cannot be read, its sections are dropped, too."""
        before, content = self._content, super().content()
        if content is not before and not content:
            self.sections = _Sections()
        return content

    def _read(self) -> tuple[dict[str, Any], str | None]:
        content, problem = super()._read()
        try:
            self.sections = _Sections.model_validate(content)
        except ValidationError as error:
            (first, *_) = error.errors()
            where = ".".join(map(str, first["loc"]))
            return {}, f"Cannot read the settings in {self.path}: '{where}': {first['msg']}."
        return content, problem


def is_beyond_user(path: Path) -> bool:
    """Whether only an administrator can have put a file there."""
    if not hasattr(os, "geteuid"):
        return False
    real = path.resolve()
    places = {path, *path.parents, real, *real.parents}
    try:
        if path.stat().st_uid not in _administrators():
            return False
    except OSError:  # not even accessible, so it is not the user's
        return True
    return os.geteuid() == ROOT or not any(os.access(place, os.W_OK) for place in places)


def _administrators() -> tuple[int, int]:
    return ROOT, Path(sys.prefix).stat().st_uid


class Administrator:
    """All files of a machine. The strictest counts; for prices, the last one."""

    def __init__(self, paths: Iterable[Path] = ()) -> None:
        self.files = [AdministratorFile(path) for path in paths]

    def problems(self, model: str = "") -> list[Problem]:
        ignored = [
            Problem(
                code="administrator_settings_ignored",
                message=f"{file.path} is ignored, because you could have written it. "
                "It must belong to an administrator, in a folder that only they can change.",
            )
            for file in self.files
            if file.is_ignored
        ]
        try:
            self.check_model(model)
        except Forbidden as refusal:
            return [*ignored, Problem(code=refusal.code, message=refusal.message)]
        return ignored

    @property
    def prices(self) -> dict[str, Price]:
        """These override the user's own settings."""
        return {
            name: price for sections in self._current() for name, price in sections.prices.items()
        }

    @property
    def limits(self) -> DayLimits:
        limits = [sections.limits for sections in self._current()]
        return DayLimits(
            tokens_per_day=_strictest(each.tokens_per_day for each in limits),
            money_per_day=_strictest(each.money_per_day for each in limits),
        )

    def allows(self, model: str) -> bool:
        try:
            self.check_model(model)
        except Forbidden:
            return False
        return True

    def check_model(self, model: str) -> None:
        """Raise Forbidden for a model that is not allowed, and for any while the files are broken.

        The guide is not a model. Where money is limited, a model without a price would be
        unlimited.
        """
        current = self._current()
        if model in ("", BUILT_IN):
            return
        for file in self.files:
            if file.problem:
                why = f"{file.problem} Until your administrator fixes that, no model is asked."
                raise Forbidden(why, code="administrator_settings_broken")
        lists = [sections.models for sections in current if sections.models is not None]
        if not all(any(fnmatch.fnmatchcase(model, name) for name in names) for names in lists):
            allowed = list(dict.fromkeys(name for names in lists for name in names))
            which = f"Allowed are: {', '.join(allowed)}." if allowed else "No model is allowed."
            raise Forbidden(
                f"{WHO} does not allow the model '{model}'. {which}",
                code="model_not_allowed",
                details={"model": model, "allowed": allowed},
            )
        if self.limits.money_per_day and model not in self.prices:
            raise Forbidden(
                f"{WHO} limits what is spent per day, and has set no price for the model "
                f"'{model}'. Prices are set for: {', '.join(self.prices) or 'none'}.",
                code="model_not_allowed",
                details={"model": model, "allowed": list(self.prices)},
            )

    def _current(self) -> list[_Sections]:
        for file in self.files:
            file.content()
        return [file.sections for file in self.files]


def _strictest(sizes: Iterable[Any]) -> Any:
    return min(filter(None, sizes), default=0)
