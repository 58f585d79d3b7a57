"""Random steps that cannot be reproduced."""

from __future__ import annotations

from collections.abc import Iterator

from ...effects.data_linter import TableWarning
from .analysis_context import AnalysisContext, warning
from .values import Value

_BY_STATE = {
    "train_test_split", "RandomForestClassifier", "RandomForestRegressor", "ExtraTreesClassifier",
    "ExtraTreesRegressor", "BaggingClassifier", "BaggingRegressor", "KMeans", "MiniBatchKMeans",
    "MLPClassifier", "MLPRegressor", "SGDClassifier", "SGDRegressor", "ShuffleSplit",
    "StratifiedShuffleSplit", "TSNE", "IsolationForest", "RandomizedSearchCV", "GaussianMixture",
    "permutation_importance", "make_classification", "make_regression", "make_blobs", "make_moons",
    "resample", "SMOTE", "RandomOverSampler",
}  # fmt: skip
_IF_SHUFFLED = {"KFold", "StratifiedKFold", "GroupKFold"}
_NOT_DRAWN = {
    "seed", "default_rng", "RandomState", "SeedSequence", "Generator", "PCG64", "get_state",
    "set_state", "Random", "getstate", "setstate",
}  # fmt: skip


def seed_warnings(case: AnalysisContext) -> Iterator[TableWarning]:
    seeded: set[str] = set()
    drawn: list[tuple[int, str]] = []
    for call in case.program.calls:
        seeded |= _seeds(call)
        step = _random_step(case, call)
        if step is None or call.line is None:
            continue
        kind, name = step
        if kind not in seeded:
            drawn.append((call.line, name))
    if not drawn:
        return
    line, first = drawn[0]
    names = list(dict.fromkeys(name for _, name in drawn))
    drawing = f"{first} and {len(names) - 1} more draw" if len(names) > 1 else f"{first} draws"
    message = f"{drawing} at random without a seed, so the result changes with each run."
    advice = "Give random_state= or seed=, or seed the generator once at the top."
    yield warning("", "no_seed", message, line, advice, {"steps": len(drawn), "calls": list(names)})


def _seeds(call: Value) -> set[str]:
    if call.name == "numpy.random.seed" and call.args and call.args[0].constant is not None:
        return {"numpy"}
    if call.name == "random.seed" and call.args and call.args[0].constant is not None:
        return {"python"}
    if call.name == "polars.set_random_seed":
        return {"polars"}
    return {"torch"} if call.name in ("torch.manual_seed",) else set()


def _is_given(call: Value, *names: str) -> bool:
    """Whether a seed is given; `**kwargs` may contain one."""
    values = (call.keywords.get(name) for name in (*names, "**"))
    return any(value is not None and value.constant is not None for value in values)


def _random_step(case: AnalysisContext, call: Value) -> tuple[str, str] | None:
    """The generator it draws from and a label; None if it is not random."""
    if (call.op == "call" and call.name.startswith("sklearn")) or call.name.startswith("imblearn"):
        shuffled = call.short in _IF_SHUFFLED and call.is_true("shuffle")
        if call.name == "sklearn.utils.shuffle":
            shuffled = True
        if call.short not in _BY_STATE and not shuffled:
            return None
        shuffle = call.keywords.get("shuffle")
        if shuffle is not None and shuffle.constant is False:
            return None
        return None if _is_given(call, "random_state") else ("numpy", call.short)
    if call.op == "method" and call.name == "sample":
        return _sampled(case, call)
    if call.op != "call":
        return None
    if call.name.startswith("numpy.random."):
        if call.short in ("default_rng", "RandomState"):
            given = (call.args and call.args[0].constant is not None) or _is_given(call, "seed")
            return None if given else ("none", f"np.random.{call.short}()")
        return None if call.short in _NOT_DRAWN else ("numpy", f"np.random.{call.short}")
    if call.name.startswith("random.") and call.short not in _NOT_DRAWN:
        return "python", f"random.{call.short}"
    return None


def _sampled(case: AnalysisContext, call: Value) -> tuple[str, str] | None:
    if _is_given(call, "random_state", "seed") or call is case.program.last:
        return None
    if call.base is None or call.base.name == "random" or call.base.op == "path":
        return None
    if any(link.op == "call" and link.short in ("Random", "default_rng") for link in call.chain()):
        return None
    prints = (each for each in case.program.calls if each.name in ("print", "display"))
    printed = (arg for each in prints for arg in each.args)
    if any(value is call for value in (*printed, *case.program.discarded)):
        return None
    polars = any(part.op == "call" and part.name.startswith("polars.") for part in call.ancestry())
    name = "sample(frac=…)" if "frac" in call.keywords else "sample"
    return ("polars" if polars else "numpy"), name
