"""Code that fits and scores a baseline: with scikit-learn, with NumPy, or with Python alone."""

from __future__ import annotations

_DATA = """
import random

table = [row for row in read(**source) if row[target] is not None]
as_numbers = {name: [number(row[name], **source) for row in table] for name in source["names"]}
known = {name: [row[name] for row in table if row[name] is not None] for name in source["names"]}
is_number = all(value is not None for value in as_numbers[target])
is_regression = is_number and len(set(as_numbers[target])) > 10
answers = as_numbers[target] if is_regression else [row[target] for row in table]

features, used = [[] for _ in table], []
for name in source["names"]:
    if name == target or not known[name]:
        continue
    numbers = [value for value in as_numbers[name] if value is not None]
    if len(numbers) == len(known[name]):
        middle = sorted(numbers)[len(numbers) // 2]
        for row, value in zip(features, as_numbers[name]):
            row.append(middle if value is None else value)
        used.append(name)
    elif len(set(known[name])) <= min(20, len(table) // 4):
        for level in sorted(set(known[name])):
            for row, whole in zip(features, table):
                row.append(float(whole[name] == level))
        used.append(name)

places = list(range(len(table)))
random.Random(0).shuffle(places)
test, train = places[: len(places) // 4], places[len(places) // 4 :]
print(f"→ {len(table):,} rows with a value for {target}")
print(f"→ {len(train):,} rows for fitting, {len(test):,} for scoring")
if len(test) < 5 or (not is_regression and len(set(answers[at] for at in train)) < 2):
    raise ValueError("too few rows or values to fit and score a model")

def score(guesses):
    real = [answers[at] for at in test]
    if is_regression:
        return sum(abs(a - b) for a, b in zip(real, guesses)) / len(real)
    return sum(a == b for a, b in zip(real, guesses)) / len(real)

measure = "mean absolute error" if is_regression else "accuracy"
fitted = [answers[at] for at in train]
simple = sum(fitted) / len(fitted) if is_regression else max(sorted(set(fitted)), key=fitted.count)
print(f"→ always guessing {simple:,.6g}: " if is_regression else f"→ always guessing {simple}: ",
      f"{measure} {score([simple] * len(test)):,.4g}", sep="")
"""

_SKLEARN = """
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

print(f"→ columns used: {', '.join(used) or 'none'}")
if used:
    estimator = Ridge() if is_regression else LogisticRegression(max_iter=1000)
    model = make_pipeline(StandardScaler(), estimator)
    model.fit([features[at] for at in train], fitted)
    guesses = list(model.predict([features[at] for at in test]))
    print(f"→ {type(estimator).__name__} (scikit-learn): {measure} {score(guesses):,.4g}")
"""

_NUMPY = """
import numpy as np

print(f"→ columns used: {', '.join(used) or 'none'}")
if used:
    X = np.array(features, dtype=float)
    middle, spread = X[train].mean(axis=0), X[train].std(axis=0)
    X = (X - middle) / np.where(spread > 0, spread, 1)
    X = np.hstack([X, np.ones((len(X), 1))])
    levels = sorted(set(fitted))
    goal = np.array(fitted, dtype=float)[:, None] if is_regression else np.array(
        [[float(one == level) for level in levels] for one in fitted])
    ridge = X[train].T @ X[train] + 1e-3 * np.eye(X.shape[1])
    weights = np.linalg.solve(ridge, X[train].T @ goal)
    guessed = X[test] @ weights
    if is_regression:
        guesses = guessed[:, 0].tolist()
    else:
        guesses = [levels[at] for at in guessed.argmax(axis=1)]
    print(f"→ least squares (NumPy): {measure} {score(guesses):,.4g}")
"""

_NOTHING = """
print("→ no model was fitted: neither scikit-learn nor NumPy is installed")
"""


def body(packages: frozenset[str]) -> str:
    """The best that can be done with these packages."""
    fit = _SKLEARN if "sklearn" in packages else _NUMPY if "numpy" in packages else _NOTHING
    return f"{_DATA.strip()}\n{fit}"
