"""The same request twice, by the built-in guide: what the memory of a workspace spares."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from cowork_jupyter.parts.memory.proposals import proposals
from tests.unit.record.twice import WISH, carry_out, guide_in, settings_in, turns


def print_second_time() -> None:
    """Needs no model, so that it is always the same."""
    # Scripts of the guide need pandas.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as folder:
        first, second = asyncio.run(_twice(Path(folder)))
    print(f"\n“{WISH}”, by the built-in guide")
    for when, (asked, taken) in (("first time", first), ("second time", second)):
        print(f"  {when:12} {asked} questions, {taken} turns")


async def _twice(folder: Path) -> tuple[tuple[int, int], tuple[int, int]]:
    service = guide_in(settings_in(folder))
    there = {*service.settings.workspace.rglob("*.*")}
    try:
        job, asked, context_id = await carry_out(service)
        first = len(asked), turns(service, context_id)
        made = {*service.settings.workspace.rglob("*.*")} - there
        (proposal,) = service.of(proposals).waiting()
        service.of(proposals).keep(job.id, proposal.fingerprint)
        for path in made:
            if path.is_file():
                path.unlink()
        _, asked, context_id = await carry_out(service)
        return first, (len(asked), turns(service, context_id))
    finally:
        await service.close()
