"""Settings of an administrator for all users of a machine; only read here.

A file counts if it belongs to root or to the owner of the Python environment, and if the user
cannot have written it: neither it nor any folder above it is writable for them. For root, who can
write everything, the owner alone decides. What an agent could write must never count here.
"""

from __future__ import annotations

import fnmatch
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..domain.connection import BUILT_IN
from ..domain.errors import Forbidden
from ..domain.health import Problem
from ..domain.settings import Price
from .settings_file import SettingsFile

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
        return {name: price for said in self._current() for name, price in said.prices.items()}

    @property
    def limits(self) -> DayLimits:
        said = [sections.limits for sections in self._current()]
        return DayLimits(
            tokens_per_day=_strictest(limits.tokens_per_day for limits in said),
            money_per_day=_strictest(limits.money_per_day for limits in said),
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
        said = self._current()
        if model in ("", BUILT_IN):
            return
        for file in self.files:
            if file.problem:
                why = f"{file.problem} Until your administrator fixes that, no model is asked."
                raise Forbidden(why, code="administrator_settings_broken")
        lists = [sections.models for sections in said if sections.models is not None]
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
