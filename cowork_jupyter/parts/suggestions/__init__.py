"""Code or text for one cell, asked for by a gesture."""

from __future__ import annotations

from ...service.parts import Part

PART = Part(routes=f"{__name__}.routes")
