"""What is remembered about a workspace, and what runs that the user kept would add.

Notes are made by rules alone: they contain names of files and columns, formats, keys, commands and
the user's own words, but no value of the data, and no word of a model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...service.parts import Part

if TYPE_CHECKING:
    from argparse import ArgumentParser, _SubParsersAction

    from ...agents.guidance import GuidanceFinder
    from ...domain.contexts import Job
    from ...domain.settings import Settings
    from ...policy.trust import Trust
    from ...store.journal import Journal


def _guidance(settings: Settings, trust: Trust) -> GuidanceFinder:
    from .memory import WorkspaceMemory

    return WorkspaceMemory(settings.workspace, trust, is_on=settings.memory != "off")


def _job_ended(settings: Settings, journal: Journal, job: Job) -> None:
    from .proposals import offer

    offer(settings, journal, job)


def _add_commands(commands: _SubParsersAction[ArgumentParser]) -> None:
    from .subcommand import add_memory

    add_memory(commands)


PART = Part(
    guidance=_guidance,
    on_job_ended=_job_ended,
    routes=f"{__name__}.routes",
    add_commands=_add_commands,
)
