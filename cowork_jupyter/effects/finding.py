from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..domain.effects import DataEffect, DataWarning, TableState
from ..tools.kernel.state import KernelQuery, KernelTables
from ..tools.notebook.names import CellNames, names_in
from .comparing import difference
from .data_linter import NO_LINTER, DataLinter, TableWarning, WatchedRun
from .files import FileChange
from .silenced import Silenced, without_silenced

MAX_EFFECTS = 12
MAX_WARNINGS = 12
MAX_FIELDS = 60
MAX_TEXT = 1_000
NOTHING_SILENCED = Silenced()


def watched_run(
    code: str, before: KernelTables, after: KernelTables, earlier: Sequence[str] = ()
) -> WatchedRun:
    return WatchedRun(
        code=code,
        earlier=earlier or before.history,
        before=before.tables,
        after=after.tables,
        replaced=frozenset(
            name
            for name, identity in after.identities.items()
            if before.identities.get(name, identity) != identity
        ),
        answers={**before.answers, **after.answers},
    )


def made_anew(run: WatchedRun) -> WatchedRun:
    """Without what other runs have left in names that this code defines before it uses them.

    Whoever runs a notebook again from the top begins anew, in a kernel that still has the end.
    """
    names = names_in(run.code) or CellNames()
    used = names.needed.union(*names.in_functions.values())
    gone = run.replaced & names.made - used
    return replace(run, before={name: run.before[name] for name in run.before.keys() - gone})


def unanswered(queries: Iterable[KernelQuery], before: KernelTables) -> list[KernelQuery]:
    """What to ask after the run: not answered before it, and still answerable."""
    return [query for query in queries if query not in before.answers and not query.before]


def effects_of(
    run: WatchedRun,
    files: Iterable[FileChange] = (),
    silenced: Silenced = NOTHING_SILENCED,
    linter: DataLinter = NO_LINTER,
) -> list[DataEffect]:
    """Effects on each table and file with their warnings; warnings about no table come last."""
    warnings = _by_table(linter.warnings(run), run.code, silenced)
    effects = [
        _effect(name, run.before.get(name), run.after.get(name), line, warnings.pop(name, []))
        for name, line in _changed(run)
    ]
    effects += [
        _effect(f"file:{change.path}", change.before, change.after, change.line, [])
        for change in files
    ]
    rest = [warning for some in warnings.values() for warning in some]
    if rest:
        effects[MAX_EFFECTS - 1 :] = [DataEffect(of="", warnings=rest[:MAX_WARNINGS])]
    return effects[:MAX_EFFECTS]


def text_for_model(effects: Iterable[DataEffect]) -> str:
    all_effects = list(effects)
    lines = [f"[data] {effect.line}" for effect in all_effects if effect.line]
    warnings = [
        f"[warning{f', line {warning.line}' if warning.line else ''}] {warning_text(warning)}"
        for effect in all_effects
        for warning in effect.warnings
    ]
    # What may be wrong is worth more than what happened.
    text = "\n".join(
        [*warnings, *lines] if len("\n".join(lines)) > MAX_TEXT else [*lines, *warnings]
    )
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"


def warning_text(warning: DataWarning) -> str:
    return f"{warning.message} {warning.advice}".strip()


def _changed(run: WatchedRun) -> list[tuple[str, str]]:
    """Tables that were added, removed or changed, those named in the code first; each in a line."""
    names = list(dict.fromkeys([*run.before, *run.after]))
    both = run.before.keys() & run.after.keys()
    lines = {
        name: difference(name, run.before.get(name), run.after.get(name))
        for name in names
        if name not in both or name in run.replaced
    }
    changed = [(name, line) for name, line in lines.items() if line]
    return sorted(changed, key=lambda pair: pair[0] not in run.code)


def _effect(
    of: str,
    before: TableState | None,
    after: TableState | None,
    line: str,
    warnings: list[DataWarning],
) -> DataEffect:
    return DataEffect(
        of=of,
        before=_bounded(before),
        after=_bounded(after),
        line=line,
        sampled=any(state is not None and state.sampled for state in (before, after)),
        warnings=warnings[:MAX_WARNINGS],
    )


def _bounded(state: TableState | None) -> TableState | None:
    return state and state.model_copy(update={"fields": state.fields[:MAX_FIELDS]})


def _by_table(
    warnings: Iterable[TableWarning], code: str, silenced: Silenced
) -> dict[str, list[DataWarning]]:
    by_table: dict[str, list[DataWarning]] = {}
    for of, warning in warnings:
        if without_silenced([warning], code, silenced):
            by_table.setdefault(of, []).append(warning)
    return by_table
