"""Models and splits in a program: what was fitted on which rows, and which rows are for tests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .program import DataFlow
from .values import Value, texts_of

TRANSFORMERS = {
    "StandardScaler", "MinMaxScaler", "RobustScaler", "MaxAbsScaler", "QuantileTransformer",
    "PowerTransformer", "SimpleImputer", "KNNImputer", "IterativeImputer", "OneHotEncoder",
    "OrdinalEncoder", "TargetEncoder", "SelectKBest", "SelectPercentile", "SelectFromModel",
    "RFE", "RFECV", "PCA", "TruncatedSVD", "TfidfVectorizer", "CountVectorizer",
    "VarianceThreshold", "KBinsDiscretizer", "ColumnTransformer", "SMOTE", "ADASYN",
    "RandomOverSampler",
}  # fmt: skip
"""Classes that learn from the rows they are fitted on, but are not models."""
SEARCHES = {"GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV"}
CROSS_VALIDATES = {"cross_val_score", "cross_validate", "cross_val_predict"}
METRICS = {
    "accuracy_score", "precision_score", "recall_score", "f1_score", "roc_auc_score", "r2_score",
    "mean_squared_error", "mean_absolute_error", "root_mean_squared_error", "log_loss",
    "classification_report", "confusion_matrix", "balanced_accuracy_score", "fbeta_score",
    "mean_absolute_percentage_error", "average_precision_score", "matthews_corrcoef",
    "median_absolute_error", "explained_variance_score",
}  # fmt: skip
_FITS = {"fit", "fit_transform", "fit_resample", "fit_predict"}
_CHOOSES_ROWS = {"sample", "query", "head", "tail", "filter"}
_PREDICTS = {"predict", "predict_proba", "decision_function"}
_ROLE = re.compile(r"(?:^|_)(train|tr|test|te|val|valid|validation|dev|holdout)(?:$|_|\d)", re.I)
_ROLES = {
    "train": "train", "tr": "train", "test": "test", "te": "test", "holdout": "test",
}  # fmt: skip


@dataclass(frozen=True)
class Fit:
    call: Value
    estimator: Value
    data: Value
    target: Value | None

    @property
    def name(self) -> str:
        return class_of(self.estimator)


@dataclass(frozen=True)
class Split:
    call: Value | None
    """None if the code slices the rows itself."""
    line: int | None
    inputs: tuple[Value, ...]
    train: tuple[Value, ...]
    test: tuple[Value, ...]


@dataclass(frozen=True)
class Score:
    call: Value
    estimator: Value
    data: Value


def estimator_of(value: Value) -> Value:
    while value.op == "method" and value.name in ("fit", "set_params") and value.base is not None:
        value = value.base
    return value


def class_of(estimator: Value) -> str:
    """`StandardScaler`; for a pipeline its own name."""
    return estimator.short if estimator.op == "call" else ""


def parent(value: Value) -> Value | None:
    if value.op == "item" and value.base is not None and value.base.short == "train_test_split":
        place, inputs = value.constant, value.base.args
        return inputs[place // 2] if isinstance(place, int) and place // 2 < len(inputs) else None
    if value.op == "item" and value.base is not None and value.base.name == "fit_resample":
        return value.base.args[0] if value.base.args else None
    if value.op == "method" and value.name in ("transform", "fit_transform") and value.args:
        return value.args[0]
    if value.op == "call" and value.short in ("DataFrame", "array", "asarray", "hstack", "c_"):
        return value.args[0] if value.args else None
    return value.base if value.op in ("method", "index", "attribute", "set") else None


def lineage(value: Value | None) -> Iterator[Value]:
    """Data, the data it was made of, and so on."""
    for _step in range(100):
        if value is None:
            return
        yield value
        value = parent(value)


def unsplit_lineage(data: Value) -> Iterator[Value]:
    """The lineage of data, as long as no rows were chosen."""
    for ancestor in lineage(data):
        if ancestor.op == "item" or (ancestor.op == "index" and texts_of(ancestor.args[0]) is None):
            return
        if ancestor.op == "method" and ancestor.name in _CHOOSES_ROWS:
            return
        yield ancestor


class Learning:
    def __init__(self, program: DataFlow) -> None:
        self._program = program
        self._named = {id(assignment.value): assignment.name for assignment in program.assignments}
        self.fits = [fit for call in program.calls if (fit := _fit_of(call)) is not None]
        self.scores = [score for call in program.calls if (score := _score_of(call)) is not None]
        self._order = {id(call): place for place, call in enumerate(program.calls)}
        self.splits = [*self._by_function(), *self._by_hand()]

    def order(self, call: Value) -> int:
        return self._order[id(call)]

    def role(self, value: Value) -> str:
        """`train`, `test` or `other` (for validation); empty for rows that were never split."""
        for ancestor in lineage(value):
            found, base = _ROLE.search(self._named.get(id(ancestor), "")), ancestor.base
            by_function = (
                ancestor.op == "item" and base is not None and base.short == "train_test_split"
            )
            if found and (by_function or _chooses_rows(ancestor)):
                return _ROLES.get(found[1].lower(), "other")
            if by_function and isinstance(ancestor.constant, int):
                return "test" if ancestor.constant % 2 else "train"
        return ""

    def _by_function(self) -> Iterator[Split]:
        for call in self._program.calls:
            if call.short != "train_test_split":
                continue
            values = (assignment.value for assignment in self._program.assignments)
            parts = {value.constant: value for value in values
                     if value.op == "item" and value.base is call}  # fmt: skip
            train = tuple(parts[n] for n in sorted(parts, key=str) if _even(n))
            test = tuple(parts[n] for n in sorted(parts, key=str) if not _even(n))
            yield Split(call, call.line, call.args, train, test)

    def _by_hand(self) -> Iterator[Split]:
        """By variable names, for rows chosen from one table."""
        parts: dict[str, list[Value]] = {"train": [], "test": []}
        for assignment in self._program.assignments:
            found = _ROLE.search(assignment.name)
            role = _ROLES.get(found[1].lower()) if found else None
            if role is not None and _chooses_rows(assignment.value):
                parts[role].append(assignment.value)
        for train in parts["train"]:
            for test in parts["test"]:
                ours, theirs = _table_of(train), _table_of(test)
                if ours is theirs and ours is not None:
                    line = max(filter(None, (train.line, test.line)), default=None)
                    yield Split(None, line, (ours,), (train,), (test,))


def _even(place: object) -> bool:
    return isinstance(place, int) and place % 2 == 0


def _chooses_rows(value: Value) -> bool:
    if value.op == "index":
        owner, key = value.base, value.args[0]
        if owner is not None and owner.op == "attribute" and owner.name in ("iloc", "loc"):
            return True
        return key.op in ("slice", "compare", "operator", "method", "call", "global", "item")
    if value.op == "method" and value.name == "copy" and value.base is not None:
        return _chooses_rows(value.base)
    if value.op == "method" and value.name == "drop":
        return any(part.op == "attribute" and part.name == "index" for part in value.ancestry())
    return value.op == "method" and value.name in _CHOOSES_ROWS


def _table_of(value: Value) -> Value | None:
    while value.op == "method" and value.name == "copy" and value.base is not None:
        value = value.base
    owner = value.base
    if owner is not None and owner.op == "attribute" and owner.name in ("iloc", "loc"):
        return owner.base
    return owner


def _fit_of(call: Value) -> Fit | None:
    if call.op == "method" and call.name in _FITS and call.base is not None:
        data = call.keyword("X", 0)
        if data is not None:
            return Fit(call, estimator_of(call.base), data, call.keyword("y", 1))
    if call.op == "call" and call.short in CROSS_VALIDATES and len(call.args) >= 2:
        target = call.keyword("y", 2)
        return Fit(call, estimator_of(call.args[0]), call.args[1], target)
    return None


def _score_of(call: Value) -> Score | None:
    if call.op == "method" and call.name == "score" and call.base is not None:
        data = call.keyword("X", 0)
        if data is not None and call.keyword("y", 1) is not None:
            return Score(call, estimator_of(call.base), data)
    matched = call.base if call.op == "method" else call.args[0] if call.args else None
    if call.short == "mean" and matched is not None and matched.op == "compare":
        return _predicted(call, list(matched.args))
    if call.op == "call" and call.short in METRICS:
        return _predicted(call, [*call.args, *call.keywords.values()])
    return None


def _predicted(call: Value, arguments: list[Value]) -> Score | None:
    for argument in arguments:
        for ancestor in argument.ancestry():
            base, predicts = ancestor.base, ancestor.op == "method" and ancestor.name in _PREDICTS
            if predicts and base is not None and ancestor.args:
                return Score(call, estimator_of(base), ancestor.args[0])
    return None
