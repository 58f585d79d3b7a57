from __future__ import annotations

import logging
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points

from ..domain.errors import InvalidInput
from .catalog import Declarations

logger = logging.getLogger(__name__)

GROUP = "cowork_jupyter.roles"


@cache
def plugin_roles() -> Declarations:
    """Roles of other packages; each entry point loads as the text of a declaration.

    A broken plug-in is reported and skipped, so that the others work.
    """
    found = Declarations()
    try:
        points = sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value))
    except Exception as error:
        found.skip(GROUP, "plugin", f"Cannot read the list of plug-ins: {error}")
        points = []
    for point in points:
        found.add(point.name, "plugin", partial(_text, point))
    return found


def _text(point: EntryPoint) -> str:
    try:
        loaded = point.load()
    except (Exception, SystemExit) as error:
        logger.warning("The role plug-in '%s' cannot be loaded", point.name, exc_info=error)
        raise InvalidInput(f"It cannot be loaded: {type(error).__name__}: {error}") from None
    if not isinstance(loaded, str):
        kind = type(loaded).__name__
        raise InvalidInput(f"It is a {kind}, not the text of a declaration in TOML.")
    return loaded
