"""Warnings about what code did to data: from its syntax, the tables around it, and queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...service.parts import Part

if TYPE_CHECKING:
    from ...effects.data_linter import DataLinter


def _linter() -> DataLinter:
    from .linter import RuleLinter

    return RuleLinter()


PART = Part(data_linter=_linter)
