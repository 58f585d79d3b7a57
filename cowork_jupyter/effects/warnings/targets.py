"""The target, or what was computed from it, among the features."""

from __future__ import annotations

from collections.abc import Iterator

from .conditions import column_of, own_expression
from .finding import Case, Found, counted, number, warning
from .learning import TRANSFORMERS, Fit, Learning, trail
from .values import Value, texts_of

_HOW = {
    "equal": "tells the target by itself",
    "function": "rises and falls exactly with the target",
    "separates": "separates the target without an error",
    "missing": "is missing exactly where the target has one value",
}
_OF_THE_PAST = {"shift", "lag"}


def target_warnings(case: Case) -> Iterator[Found]:
    """About every model that the code fits, once for the same features."""
    learning = Learning(case.program)
    seen: set[int] = set()
    for fit in learning.fits:
        if fit.target is None or fit.name in TRANSFORMERS or fit.name == "SelectKBest":
            continue
        known = id(fit.data) in seen
        seen.add(id(fit.data))
        if fit.call.line is None or known:
            continue
        target = _target_column(fit.target)
        derived = _derived(case, fit, target)
        answer = case.ask_all("features", case.rows(fit.data), case.rows(fit.target), more=("",))
        found = answer.get("found") if answer is not None else None
        reported = False
        for column, how in found.items() if isinstance(found, dict) else ():
            if number(answer or {}, "features") == 1 and how != "equal":
                continue  # the only feature is there to be a function of
            reported = True
            rows = number(answer or {}, "rows")
            same = column == target
            message = (
                f"The target {column} is among the features ({counted(rows, 'row')})."
                if same
                else f"The feature {column} {_HOW.get(str(how), 'tells the target')} "
                f"in {counted(rows, 'row')}."
            )
            yield _among(case, fit, message, {"feature": column, "how": how, "rows": rows})
        if derived is not None and not reported:
            message = f"The feature {derived} was computed from the target {target}."
            yield _among(case, fit, message, {"feature": derived, "target": target})


def _among(case: Case, fit: Fit, message: str, evidence: dict[str, object]) -> Found:
    advice = "Leave the column out of the features, or compute it from the training rows alone."
    of = case.of(fit.data)
    return warning(of, "target_among_features", message, fit.call.line, advice, evidence)


def _target_column(target: Value) -> str | None:
    for ancestor in trail(target):
        found = column_of(ancestor)
        if found is not None:
            return found[1]
    return None


def _derived(case: Case, fit: Fit, target: str | None) -> str | None:
    """A feature that the code computed from the target."""
    if target is None:
        return None
    state = case.state(fit.data)
    dropped: set[str] = set()
    selected: list[str] | None = None
    for ancestor in trail(fit.data):
        if ancestor.op == "method" and ancestor.name == "drop":
            named = texts_of(ancestor.keyword("columns")) or texts_of(ancestor.keyword("labels", 0))
            dropped |= set(named or [])
        if ancestor.op == "index" and selected is None:
            selected = texts_of(ancestor.args[0])
        column = _made_column(ancestor, target)
        if column is None or column in dropped or column == target:
            continue
        if selected is not None and column not in selected:
            continue
        if state is not None and state.kind.startswith("pandas") and not state.field(column):
            continue
        return column
    return None


def _made_column(value: Value, target: str) -> str | None:
    made: list[tuple[str, Value]] = []
    if value.op == "set" and len(value.args) == 2 and value.args[0].text and value.name != "list":
        made.append((value.args[0].text, value.args[1]))
    if value.op == "method" and value.name == "assign":
        made += list(value.keywords.items())
    for column, held in made:
        own = list(own_expression(held))
        if any(part.op == "method" and part.name in _OF_THE_PAST for part in own):
            continue
        if any((found := column_of(part)) is not None and found[1] == target for part in own):
            return column
    return None
