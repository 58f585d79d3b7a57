"""What errors mean for which no change of the code is sure to help."""

from __future__ import annotations

import re

from .cell import FailingCell, Fix

_NOTHING = (
    "Something is `None` here: a call returned nothing instead of an object. Methods such as "
    "`sort` of a list, or those with `inplace=True`, change their object and return nothing."
)
_ADVICE: tuple[tuple[str, str, str], ...] = (  # error, pattern of its message, what to do
    ("ZeroDivisionError", "", "Something is divided by 0 here. Check the divisor first."),
    ("AttributeError", "'NoneType'", _NOTHING),
    ("TypeError", "NoneType", _NOTHING),
    ("OSError", r"non-existent directory: '([^']{1,200})'",
     "There is no folder `{0}`. Create it first."),
    ("KeyError", r"^(-?\d+)$",
     "`[{0}]` looks for the label {0}, which `.index` or `.columns` would show; `.iloc[{0}]` "
     "selects by position."),
    ("UndefinedVariableError", r"name '(\w+)' is not defined",
     "The table has no column `{0}`. Text needs quotes in a query, and a variable `@` before it."),
    ("AttributeError", r"Can only use \.str accessor",
     'The column does not contain text: `.astype("string")` before `.str` converts it.'),
    ("ValueError", r"'([\w-]+)' is no longer supported.{1,40}Please use '([\w-]+)'",
     "pandas now writes the frequency `{0}` as `{1}`."),
    ("ValueError", r"Invalid frequency: (\w+)\. Did you mean (\w+)\?",
     "pandas now writes the frequency `{0}` as `{1}`."),
    ("ImportError", r"cannot import name '(\w+)' from '([\w.]+)'",
     "The installed `{1}` has no `{0}`. It may have moved or been renamed: see the release notes."),
    ("ValueError", r"Length mismatch: Expected axis has (\d+) elements, new values have (\d+)",
     "The table has {0} columns, and {1} names were given. Name all of them, or use "
     "`rename(columns={{old: new}})` for some."),
    ("ValueError", r"arrays must (?:all )?be (?:of the )?same length",
     "The columns have different lengths. Make them the same, or wrap each in `pd.Series(…)` to "
     "fill the shorter ones with NaN."),
    ("ValueError", r"Length of values \((\d+)\) does not match length of index \((\d+)\)",
     "The new column has {0} values, the table {1} rows. Give one value for each row; a Series is "
     "matched by its index, and leaves the other rows missing (NaN)."),
    ("ValueError", r"x and y must (?:be the same size|have same first dimension)",
     "x and y have different lengths. Both must come from the same rows."),
    ("ValueError", r"could not be broadcast together with shapes (\(.*?\)) (\(.*?\))",
     "These arrays have the shapes {0} and {1}, which do not fit. Make both the same length, or "
     "`reshape` one so that its other dimension is 1."),
    ("ValueError", r"shapes (\([\d,]+\)) and (\([\d,]+\)) not aligned",
     "A product needs as many columns on the left as rows on the right; these are {0} and {1}. "
     "`.T` swaps rows and columns."),
    ("ValueError", "Expected 2D array, got 1D array|Expected a 2-dimensional",
     'scikit-learn needs a table, even of one column: `df[["column"]]`, or `np.reshape(column, '
     "(-1, 1))`. One row is `[row]`."),
    ("ValueError", "You are trying to merge on",
     "The key columns have different types. Convert one of them first, such as with "
     "`.astype(str)`."),
    ("TypeError", r"Only valid with DatetimeIndex",
     "Only a table with dates as its index can be resampled: name their column with `on=`, or use "
     '`df.set_index(pd.to_datetime(df["date"]))` first.'),
    ("TypeError", r"'([\w.]+)' object is not callable|Indexer.__call__",
     "A value is called like a function here. Values such as `shape` have no parentheses, items "
     "such as `df[…]` and `iloc[…]` have square brackets, and a variable must not be called like "
     "a function: `del list` brings `list` back."),
    ("TypeError", r"(\w+)\(\) missing \d+ required \S+ arguments?: (.{1,200})",
     "`{0}` also needs {1}. Give it in the call, or give the parameter a default."),
    ("TypeError", r"(\w+)\(\) takes (?:from \d+ to )?\d+ positional arguments? but (\d+)",
     "`{0}` got {1} values, more than it takes without a name. Name them, as in `axis=1`, or put "
     "them into one list, as the tables of `pd.concat([a, b])`."),
    ("TypeError", r"(?:dtype[= ]|of )'?(?:str|object)\b.*(?:Timestamp|date)",
     'The column contains text: convert it to dates first, as in `pd.to_datetime(df["date"])`.'),
    ("TypeError", r"(?:dtype=|of ')str'? and '?(?:int|float)",
     "Text is compared with a number: convert it first, with `float(…)` or `pd.to_numeric(…)`."),
    ("IndexError", r"index (-?\d+) is out of bounds for axis \d+ with size (\d+)",
     "There is no position {0}: there are {1}, counted from 0. `[-1]` is the last one."),
    ("IndexError", "out of (?:range|bounds)",
     "This position is past the end. Positions are counted from 0; `len(…)` tells how many there "
     "are."),
)  # fmt: skip
_MEANINGS = {
    "EmptyDataError": "The file has no data in it.",
    "MemoryError": "There is not enough memory. Take fewer rows or columns at once.",
    "NotFittedError": "Train the model with `fit` before you use it.",
    "ParserError": "The file does not have the expected format. Look at its first lines, then "
    "set `sep`, `skiprows` or `quotechar`.",
    "PermissionError": "You do not have permission to read or write that file.",
    "UnicodeDecodeError": "The file is not in the encoding it was read with. Try "
    '`encoding="latin-1"` or `encoding="cp1252"`.',
}


def advice_for(cell: FailingCell) -> Fix | None:
    for error, pattern, advice in _ADVICE:
        found = re.search(pattern, cell.message) if cell.error.name == error else None
        if found:
            return Fix(advice.format(*found.groups()))
    return None


def explain(cell: FailingCell) -> Fix:
    """What is honest to say of an error that no rule knows."""
    said = " ".join(cell.message.split())[:200].rstrip(".")
    parts = [
        f"`{cell.error.name}`{f' in line {cell.line}' if cell.line else ''}:",
        _MEANINGS.get(cell.error.name, ""),
        f"It says: {said}." if said else "",
        "I have no rule for this error. Connect a model in the Cowork panel to get help with it.",
    ]
    return Fix(" ".join(filter(None, parts)))
