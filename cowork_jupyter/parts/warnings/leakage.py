"""Leakage: transformers fitted before a split, and rows on its wrong side."""

from __future__ import annotations

from collections.abc import Iterator

from ...domain.plurals import count_of
from ...effects.data_linter import Answer, TableWarning
from .analysis_context import AnalysisContext, number, part_text, warning
from .learning import (
    CROSS_VALIDATES,
    SEARCHES,
    TRANSFORMERS,
    Fit,
    Learning,
    Split,
    estimator_of,
    lineage,
    unsplit_lineage,
)
from .values import Value, column_of, own_expression, texts_of

_STATISTICS = {"mean", "std", "median", "min", "max", "quantile", "mode", "var"}


def fit_warnings(case: AnalysisContext) -> Iterator[TableWarning]:
    learning = Learning(case.program)
    transformers = [fit for fit in learning.fits if fit.name in TRANSFORMERS]
    for fit in transformers:
        if fit.call.line is not None and learning.role(fit.data) == "test":
            message = f"{fit.name} is fitted on the test rows{case.rows_text(fit.data)}."
            advice = "Fit it on the training rows and only transform the test rows."
            yield warning(case.of(fit.data), "fit_on_test", message, fit.call.line, advice)
    whole = [fit for fit in transformers if not learning.role(fit.data)]
    for split in learning.splits:
        for fit in whole:
            line = fit.call.line or split.line
            if line and _leaks(fit, split):
                yield _fitted(case, fit, split, line)
        if split.line is not None:
            yield from _by_hand(case, split)
    for later in learning.fits:
        checks = later.call.short in CROSS_VALIDATES or later.name in SEARCHES
        if later.call.line is None or not checks or learning.role(later.data):
            continue
        for fit in whole:
            if fit.call is not later.call and _made_by(fit, later.data):
                yield _fitted(case, fit, None, fit.call.line or later.call.line)


def _leaks(fit: Fit, split: Split) -> bool:
    """Whether the rows of the fit are those of the split, test rows included."""
    if any(_made_by(fit, data) for data in split.inputs):
        return True
    if split.call is None and any(_made_by(fit, part) for part in split.train):
        return True
    inputs = [id(ancestor) for data in split.inputs for ancestor in lineage(data)]
    return any(id(ancestor) in inputs for ancestor in unsplit_lineage(fit.data))


def _made_by(fit: Fit, data: Value) -> bool:
    for ancestor in data.ancestry():
        base, transforms = ancestor.base, ancestor.op == "method" and ancestor.name == "transform"
        by_it = transforms and base is not None and estimator_of(base) is fit.estimator
        if by_it or ancestor is fit.call:
            return True
    return False


def _fitted(case: AnalysisContext, fit: Fit, split: Split | None, line: int | None) -> TableWarning:
    state = case.state(fit.data)
    rows = f"all {state.rows:,} rows" if state else "all rows"
    test, included = _test_rows(case, split)
    when = "before the split" if split is not None else "before the cross-validation"
    message = f"{fit.name} was fitted on {rows} {when}{included}."
    advice = "Split first and fit it on the training rows, or put it into a Pipeline."
    evidence = {"rows": state.rows if state else None, "test_rows": test, "class": fit.name}
    return warning(case.of(fit.data), "fit_before_split", message, line, advice, evidence)


def _test_rows(case: AnalysisContext, split: Split | None) -> tuple[int | None, str]:
    states = (case.state(part) for part in (split.test if split is not None else ()))
    rows = next((state.rows for state in states if state is not None), None)
    return rows, f", the {rows:,} test rows included" if rows else ""


def _by_hand(case: AnalysisContext, split: Split) -> Iterator[TableWarning]:
    """Columns scaled or filled with statistics of all rows."""
    for data in split.inputs:
        for ancestor in data.ancestry():
            if ancestor.op != "set" or len(ancestor.args) != 2 or not ancestor.args[0].text:
                continue
            used = _statistic(ancestor.args[1], ancestor.args[0].text)
            if used is None:
                continue
            test, included = _test_rows(case, split)
            column = ancestor.args[0].text
            message = f"{column} was computed with the {used} of all rows{included}."
            advice = f"Split first, and take the {used} of the training rows alone."
            evidence = {"column": column, "statistic": used, "test_rows": test}
            line = ancestor.line or split.line
            yield warning(case.of(data), "fit_before_split", message, line, advice, evidence)


def _statistic(value: Value, column: str) -> str | None:
    """The statistic of a column that it is filled or scaled with itself."""
    fills = any(link.op == "method" and link.name == "fillna" for link in value.chain())
    scales = value.op == "operator" and value.name in ("Sub", "Div")
    if not fills and not scales:
        return None
    for part in own_expression(value):
        if part.op == "method" and part.name in _STATISTICS:
            found = column_of(part.base)
            if found is not None and found[1] == column:
                return part.name
    return None


def split_warnings(case: AnalysisContext) -> Iterator[TableWarning]:
    for split in Learning(case.program).splits:
        if split.line is None or not split.train or not split.test:
            continue
        train, test = case.rows(split.train[0]), case.rows(split.test[0])
        of = train.table if train is not None else ""
        answer = case.ask_all("overlap", train, test)
        if answer is not None and _is_no_chance(answer):
            shared, rows = number(answer, "shared"), number(answer, "rows")
            verb = "is" if shared == 1 else "are"
            message = f"{part_text(shared, rows, 'test row')} {verb} among the training rows too."
            advice = "Drop duplicates before the split."
            yield warning(of, "duplicates_across_split", message, split.line, advice, answer)
        yield from _future(case, split, of)


def _is_no_chance(answer: Answer) -> bool:
    """Rows may be equal by chance: few columns with few values have many such rows."""
    train, possible = number(answer, "train"), number(answer, "possible")
    mostly_unique = number(answer, "distinct") >= train / 2
    several = number(answer, "shared") >= max(2, number(answer, "rows") / 100)
    # Measurements that nearly all differ are not often equal, and all other columns with them.
    sharp = number(answer, "most_different") >= train / 2
    many = number(answer, "shared") >= number(answer, "rows") / 10
    return several and mostly_unique and (possible >= 20 * train or (sharp and many))


def _future(case: AnalysisContext, split: Split, of: str) -> Iterator[TableWarning]:
    shuffle = split.call.keyword("shuffle") if split.call is not None else None
    if shuffle is not None and shuffle.constant is False:
        return
    tables = [ancestor for ancestor in lineage(split.inputs[0]) if case.locator.name(ancestor)]
    train, test = case.rows(split.train[0]), case.rows(split.test[0])
    answer = None
    for table in reversed(tables):
        answer = answer or case.ask_all("order", train, test, case.rows(table), more=("",))
    if answer is None or not number(answer, "later") or number(answer, "distinct") < 10:
        return
    if split.call is not None and answer.get("ordered") is not True:
        return
    later, rows = number(answer, "later"), number(answer, "rows")
    column = str(answer.get("column")).replace("@index", "the index")
    message = f"{part_text(later, rows, 'training row')} {'is' if later == 1 else 'are'}"
    message += f" later than the first test row, by {column}."
    advice = "Split by time: shuffle=False on ordered rows, or TimeSeriesSplit."
    yield warning(of, "future_in_training", message, split.line, advice, answer)


_HOW = {
    "equal": "gives away the target by itself",
    "function": "rises and falls exactly with the target",
    "separates": "separates the target without errors",
    "missing": "is missing exactly where the target has one value",
}
_OF_THE_PAST = {"shift", "lag"}


def target_warnings(case: AnalysisContext) -> Iterator[TableWarning]:
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
        target = next((found[1] for found in map(column_of, lineage(fit.target)) if found), None)
        derived = _derived(case, fit, target)
        answer = case.ask_all("features", case.rows(fit.data), case.rows(fit.target), more=("",))
        found = answer.get("found") if answer else None
        reported = False
        for column, how in found.items() if isinstance(found, dict) else ():
            if number(answer, "features") == 1 and how != "equal":
                continue  # the only feature is there to be a function of
            reported, rows = True, number(answer, "rows")
            described = _HOW.get(str(how), "gives away the target")
            message = f"The feature {column} {described} in {count_of(rows, 'row')}."
            if column == target:
                message = f"The target {column} is among the features ({count_of(rows, 'row')})."
            yield _among(case, fit, message, {"feature": column, "how": how, "rows": rows})
        if derived is not None and not reported:
            message = f"The feature {derived} was computed from the target {target}."
            yield _among(case, fit, message, {"feature": derived, "target": target})


def _among(
    case: AnalysisContext, fit: Fit, message: str, evidence: dict[str, object]
) -> TableWarning:
    advice = "Leave the column out of the features, or compute it from the training rows alone."
    of = case.of(fit.data)
    return warning(of, "target_among_features", message, fit.call.line, advice, evidence)


def _derived(case: AnalysisContext, fit: Fit, target: str | None) -> str | None:
    if target is None:
        return None
    state = case.state(fit.data)
    dropped: set[str] = set()
    selected: list[str] | None = None
    for ancestor in lineage(fit.data):
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
