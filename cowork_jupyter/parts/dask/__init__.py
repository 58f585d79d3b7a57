"""Steps of plans on the workers of a Dask cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...service.parts import Part

if TYPE_CHECKING:
    from ...agents.pool import WorkerPool
    from ...domain.settings import Settings


def _pool(settings: Settings) -> WorkerPool:
    """Dask itself is imported when the first plan is run."""
    from .dask import DaskPool

    return DaskPool(settings)


PART = Part(pools={"dask": _pool})
