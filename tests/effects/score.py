"""Caught, missed and false alarms, by kind of defect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .notebooks import Notebook
from .watching import Watched, watched


@dataclass(frozen=True)
class Score:
    caught: tuple[Watched, ...]
    missed: tuple[Watched, ...]
    false_alarms: tuple[Watched, ...]
    quiet: tuple[Watched, ...]

    @property
    def share_caught(self) -> float:
        return len(self.caught) / max(1, len(self.caught) + len(self.missed))

    @property
    def share_of_false_alarms(self) -> float:
        return len(self.false_alarms) / max(1, len(self.false_alarms) + len(self.quiet))


def scored(notebooks: Sequence[Notebook]) -> Score:
    results = [watched(notebook) for notebook in notebooks]
    wrong = [one for one in results if one.notebook.defect]
    right = [one for one in results if not one.notebook.defect]
    return Score(
        caught=tuple(one for one in wrong if one.notebook.defect in one.codes),
        missed=tuple(one for one in wrong if one.notebook.defect not in one.codes),
        false_alarms=tuple(one for one in right if one.codes),
        quiet=tuple(one for one in right if not one.codes),
    )


def table(score: Score, verbose: bool = False) -> str:
    """For the terminal and the docs."""
    kinds = sorted({one.notebook.defect for one in (*score.caught, *score.missed)})
    lines = [f"{'defect':28} caught  missed"]
    for kind in kinds:
        caught = sum(one.notebook.defect == kind for one in score.caught)
        missed = sum(one.notebook.defect == kind for one in score.missed)
        lines.append(f"{kind:28} {caught:6}  {missed:6}")
    caught, missed = len(score.caught), len(score.missed)
    lines.append(f"{'all':28} {caught:6}  {missed:6}  ({score.share_caught:.0%} caught)")
    alarms, clean = len(score.false_alarms), len(score.false_alarms) + len(score.quiet)
    lines.append(f"false alarms: {alarms} of {clean} right notebooks")
    lines += [f"missed: {one.notebook.name} {list(one.codes)}" for one in score.missed]
    for one in score.false_alarms:
        lines.append(f"false alarm: {one.notebook.name}")
        lines += [f"    {about.line}: {about.code}: {about.message}" for about in one.warnings]
    for one in (*score.caught, *score.missed) if verbose else ():
        lines.append(one.notebook.name)
        lines += [f"    {about.line}: {about.code}: {about.message}" for about in one.warnings]
    return "\n".join(lines)
