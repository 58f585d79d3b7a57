"""What messages point at with `@`, looked up and completed; completion of commands, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...service.parts import Part

if TYPE_CHECKING:
    from ...agents.mention_scope import LookUpMentions


def _look_up() -> LookUpMentions:
    from .lookup import look_up

    return look_up


PART = Part(look_up_mentions=_look_up, routes=f"{__name__}.routes")
