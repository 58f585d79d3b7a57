"""What an administrator settles for every user of a machine. It is read here and written nowhere.

A file counts if it belongs to root or to whoever owns the Python environment, and if the user
could not have written it: neither it nor any folder above it is writable for them. For root, who
can write everything, the owner alone decides. What an agent could write must never count here.
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
    """What one user may use in a day; 0 is no limit."""

    model_config = ConfigDict(extra="forbid")

    tokens_per_day: Annotated[int, Field(ge=0)] = 0
    money_per_day: Annotated[float, Field(ge=0)] = 0.0

    def __bool__(self) -> bool:
        return bool(self.tokens_per_day or self.money_per_day)


class _Sections(BaseModel):
    """What such a file says beside its rules."""

    models: list[str] | None = None
    """Names or patterns such as `gpt-5*`; without it, all models are allowed."""
    prices: dict[str, Price] = {}
    limits: DayLimits = DayLimits()


class AdministratorFile(SettingsFile):
    """One file, of no effect where the user could have written it."""

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
        """As of any settings file; what cannot be read takes the sections with it."""
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
    places = {*_with_parents(path), *_with_parents(path.resolve())}
    try:
        if path.stat().st_uid not in _administrators():
            return False
    except OSError:  # it cannot even be looked at, so it is not the user's
        return True
    return os.geteuid() == ROOT or not any(os.access(place, os.W_OK) for place in places)


def _administrators() -> tuple[int, int]:
    return ROOT, Path(sys.prefix).stat().st_uid


def _with_parents(path: Path) -> tuple[Path, ...]:
    return path, *path.parents


class Administrator:
    """All such files of a machine. Of several, the strictest counts; for prices, the last one."""

    def __init__(self, paths: Iterable[Path] = ()) -> None:
        self.files = [AdministratorFile(path) for path in paths]

    def problems(self, model: str = "") -> list[Problem]:
        """What is wrong, with the files and with the model that is connected."""
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
        """What models cost, whatever the user's own settings say."""
        return {name: price for said in self._said() for name, price in said.prices.items()}

    @property
    def limits(self) -> DayLimits:
        said = [sections.limits for sections in self._said()]
        return DayLimits(
            tokens_per_day=_strictest(limits.tokens_per_day for limits in said),
            money_per_day=_strictest(limits.money_per_day for limits in said),
        )

    def allows(self, model: str) -> bool:
        """Whether a model may be asked."""
        try:
            self.check_model(model)
        except Forbidden:
            return False
        return True

    def check_model(self, model: str) -> None:
        """Refuse a model that may not be asked, and any while it is not known which may.

        The guide is none. Where money is limited, a model without a price would have no limit.
        """
        said = self._said()
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

    def _said(self) -> list[_Sections]:
        for file in self.files:
            file.content()
        return [file.sections for file in self.files]


def _strictest(sizes: Iterable[Any]) -> Any:
    return min(filter(None, sizes), default=0)
