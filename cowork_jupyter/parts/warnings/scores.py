"""Misleading scores: on rows that the model was fitted on, or was chosen by."""

from __future__ import annotations

from collections.abc import Iterator

from ...effects.data_linter import TableWarning
from .analysis_context import AnalysisContext, warning
from .learning import (
    CROSS_VALIDATES,
    SEARCHES,
    Fit,
    Learning,
    Score,
    class_of,
    lineage,
    unsplit_lineage,
)
from .values import Value

_MAX_DEPTH = 6


def score_warnings(case: AnalysisContext) -> Iterator[TableWarning]:
    learning = Learning(case.program)
    fair = [
        score for score in learning.scores
        if not any(_knows(fit, score.data) for fit in _fits_for(learning, score))
    ]  # fmt: skip
    checked = [fit for fit in learning.fits if fit.call.short in CROSS_VALIDATES]
    if fair or checked:
        return
    for score in learning.scores:
        if score.call.line is None or _is_called_train(case, score):
            continue
        fits = [fit for fit in _fits_for(learning, score) if fit.target is not None]
        if fits and class_of(score.estimator) not in SEARCHES:
            state = case.state(score.data)
            rows = f"the {state.rows:,} rows" if state else "the rows"
            message = f"The score is of {rows} that the model was fitted on."
            advice = "Score rows that it has not seen: a test set, or cross_val_score."
            evidence = {"rows": state.rows if state else None}
            yield warning(
                case.of(score.data), "score_on_training_rows", message, score.call.line, advice,
                evidence,
            )  # fmt: skip
            return


def _is_called_train(case: AnalysisContext, score: Score) -> bool:
    """Whether the code itself calls it a score of training rows."""
    said = [
        assignment.name for assignment in case.program.assignments
        if assignment.value.is_made_of(score.call)
    ]  # fmt: skip
    for call in case.calls():
        if call.name == "print" and call.is_made_of(score.call):
            direct = [part for argument in call.args for part in (argument, *argument.parts())]
            said += [part.text for part in direct if part.text]
    return any("train" in text.lower() for text in said)


def _fits_for(learning: Learning, score: Score) -> list[Fit]:
    """The last fit of the model before the score."""
    fits = [
        fit for fit in learning.fits
        if fit.estimator is score.estimator and fit.call.short not in CROSS_VALIDATES
        and learning.order(fit.call) < learning.order(score.call)
    ]  # fmt: skip
    return fits[-1:]


def _knows(fit: Fit, data: Value) -> bool:
    """Whether the rows are those of the fit, or contain them."""
    is_part = any(ancestor is data for ancestor in lineage(fit.data))
    return is_part or any(part is fit.data for part in lineage(data)) or _is_same(fit.data, data)


def _is_same(first: Value, second: Value, depth: int = 0) -> bool:
    if first is second:
        return True
    if (first.op, first.name) != (second.op, second.name) or first.constant != second.constant:
        return False
    ours, theirs = list(first.parts()), list(second.parts())
    if len(ours) != len(theirs) or not ours or depth > _MAX_DEPTH:
        return first.op == "constant"
    return all(_is_same(value, other, depth + 1) for value, other in zip(ours, theirs, strict=True))


def tuning_warnings(case: AnalysisContext) -> Iterator[TableWarning]:
    learning = Learning(case.program)
    advice = "Choose with cross-validation or a validation set, and use the test rows once."
    for fit in learning.fits:
        if fit.call.line is None or fit.call.op != "method":
            continue
        if fit.name in SEARCHES and learning.role(fit.data) == "test":
            message = f"{fit.name} searches on the test rows{case.rows_text(fit.data)}."
            yield warning(case.of(fit.data), "tuned_on_test", message, fit.call.line, advice)
        watched = fit.call.keywords.get("eval_set")
        if watched is not None and any(
            learning.role(ancestor) == "test" for ancestor in watched.ancestry()
        ):
            message = "The number of rounds is chosen by the score on the test rows."
            yield warning(case.of(fit.data), "tuned_on_test", message, fit.call.line, advice)
    yield from _searched_all(case, learning, advice)
    for score in learning.scores:
        if not score.call.loops or learning.role(score.data) != "test":
            continue
        varies = any(map(score.call.is_made_of, score.call.loops))
        chosen = _chosen_by(case, score.call) if varies else None
        if chosen is not None:
            message = "The best model is chosen by its score on the test rows"
            message += f"{case.rows_text(score.data)}, so that score is too optimistic."
            line = score.call.line or chosen
            yield warning(case.of(score.data), "tuned_on_test", message, line, advice)
            return


def _searched_all(case: AnalysisContext, learning: Learning, advice: str) -> Iterator[TableWarning]:
    """A search on all rows whose test rows are scored afterwards."""
    for fit in learning.fits:
        if fit.name not in SEARCHES or learning.role(fit.data) or fit.call.op != "method":
            continue
        for split in learning.splits:
            inputs = [id(ancestor) for data in split.inputs for ancestor in lineage(data)]
            lines = [line for line in (fit.call.line, split.line) if line is not None]
            if lines and any(id(ancestor) in inputs for ancestor in unsplit_lineage(fit.data)):
                message = f"{fit.name} searched on all rows, the test rows included."
                yield warning(case.of(fit.data), "tuned_on_test", message, lines[0], advice)


def _chosen_by(case: AnalysisContext, score: Value) -> int | None:
    """The line that picks the best score; None if none in this code does."""
    for decision in case.program.decisions:
        asks = any(ancestor.op == "compare" for ancestor in decision.ancestry())
        if decision.line is not None and asks and decision.is_made_of(score):
            return decision.line
    for call in case.calls():
        picks = call.short in ("max", "min", "argmax", "argmin", "idxmax", "idxmin", "nlargest")
        if picks and call.is_made_of(score):
            return call.line
    return None
