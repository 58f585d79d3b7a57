"""Lengths and shapes that do not match."""

from __future__ import annotations

import ast
import re

from .cell import FailingCell, Fix, base_name, callee_name

_LENGTH = re.compile(r"Length of values \((\d+)\) does not match length of index \((\d+)\)")
_MISMATCH = re.compile(r"Length mismatch: Expected axis has (\d+) elements, new values have (\d+)")
_BROADCAST = re.compile(r"operands could not be broadcast together with shapes (\(.*?\)) (\(.*?\))")
_SAME_X_Y = re.compile(r"x and y must (?:be the same size|have same first dimension)")
_SHAPES = re.compile(r"shapes \((\d+),?\) and \((\d+),?\)")
_ALIGNED = re.compile(r"shapes (\([\d,]+\)) and (\([\d,]+\)) not aligned")
_RESHAPE = re.compile(r"cannot reshape array of size (\d+) into shape \(([\d,]+)\)")
_DIMENSIONS = re.compile(r"\d+(?: × \d+)+")
_SIZE = re.compile(r"length ([\d,]+)|([\d,]+) (?:rows|values)")
_OUT_OF = re.compile(r"index (-?\d+) is out of bounds for axis (\d) with size (\d+)")
_ESTIMATOR = ("fit", "predict", "transform", "fit_transform", "score", "fit_predict")


def shape_mismatch(cell: FailingCell) -> Fix | None:
    if cell.error.name not in ("ValueError", "IndexError"):
        return None
    message = cell.message
    if re.search("All arrays must be of the same length|arrays must all be same length", message):
        return _of_columns(cell)
    if found := _LENGTH.search(message):
        return Fix(
            f"The new column has {found[1]} values, the table {found[2]} rows. Give one value "
            f"for each row, or a Series with the table's index: missing ones become NaN.",
            _as_series(cell, is_longer=int(found[1]) > int(found[2])),
        )
    if found := _MISMATCH.search(message):
        return Fix(
            f"The table has {found[1]} columns, and {found[2]} names were given. Name all of "
            "them, or use `rename(columns={old: new})` for some."
        )
    if _SAME_X_Y.search(message):
        return _x_and_y(cell)
    if found := _BROADCAST.search(message):
        return Fix(
            f"These arrays have the shapes {found[1]} and {found[2]}, which do not fit. Make "
            "both the same length, or `reshape` one so that its other dimension is 1."
        )
    if found := _ALIGNED.search(message):
        return _transposed(cell, found[1], found[2])
    if message.startswith("matmul: ") and (shapes_of := _known_shapes(cell)):
        return _transposed(cell, *shapes_of)
    if found := _RESHAPE.search(message):
        return _reshaped(cell, int(found[1]), found[2])
    if "Expected 2D array, got 1D array" in message or "Expected a 2-dimensional" in message:
        return _two_dimensional(cell)
    if "inhomogeneous shape" in message:
        return Fix(
            "The inner lists have different lengths, so they cannot form an array. Pad them to "
            "the same length, or keep a plain list."
        )
    return _sample(cell) if "Cannot take a larger sample than population" in message else None


def _of_columns(cell: FailingCell) -> Fix | None:
    """`pd.DataFrame({…})` of lists of unequal length."""
    pandas, code = cell.alias("pandas"), cell.code
    for call in cell.calls("DataFrame"):
        if call.args and isinstance(call.args[0], ast.Dict):
            edits = [
                code.replacement(value, f"{pandas}.Series({code.source(value)})")
                for value in call.args[0].values
                if not isinstance(value, ast.Constant)
            ]
            why = (
                "The columns have different lengths. As Series, the shorter ones are filled "
                "with missing values (NaN); check that this is what you want."
            )
            return cell.edit(why, *edits)
    return Fix(
        "The columns have different lengths. Make them the same, or wrap each in "
        "`pd.Series(…)` to fill the shorter ones with NaN."
    )


def _as_series(cell: FailingCell, *, is_longer: bool) -> str | None:
    for assigned in cell.find(ast.Assign):
        target, value = assigned.targets[0], cell.code.source(assigned.value)
        table = base_name(target)
        if isinstance(target, ast.Subscript) and table:
            new = f"{cell.alias('pandas')}.Series({value}, index={table}.index[: len({value})])"
            if is_longer:
                new = f"{value if value.isidentifier() else f'({value})'}[: len({table})]"
            return cell.replace("", assigned.value, new, imports="pandas").source
    return None


def _x_and_y(cell: FailingCell) -> Fix | None:
    """A chart of two things of different lengths."""
    sizes = _SHAPES.search(cell.message)
    said = f" ({sizes[1]} and {sizes[2]} values)" if sizes else ""
    code = cell.code
    for call in cell.calls("plot", "scatter", "bar"):
        names = [code.source(argument) for argument in call.args[:2]]
        statement = code.statement_of(call)
        if len(names) < 2 or not all(map(str.isidentifier, names)) or statement is None:
            continue
        x, y = names
        start = code.span(statement)[0]
        edits = [code.replacement(argument, f"{code.source(argument)}[:size]")
                 for argument in call.args[:2]]  # fmt: skip
        text = code.apply_edits(*edits)
        return Fix(
            f"`{x}` and `{y}` have different lengths{said}. This plots as many as both have; "
            "find out why they differ.",
            f"{text[:start]}size = min(len({x}), len({y}))\n{text[start:]}",
        )
    return Fix(f"x and y have different lengths{said}. Both must come from the same rows.")


def _transposed(cell: FailingCell, left_shape: str, right_shape: str) -> Fix | None:
    shapes_of = (left_shape, right_shape)
    sizes = [[int(size) for size in shape.strip("()").split(",") if size] for shape in shapes_of]
    why = (
        "A product needs as many columns on the left as rows on the right; these are "
        f"{left_shape} and {right_shape}."
    )
    if len(sizes[1]) == 2 and sizes[0][-1] == sizes[1][1]:
        factors = [call.args[-1] for call in cell.calls("dot", "matmul") if call.args]
        factors += [node.right for node in cell.find(ast.BinOp)
                    if isinstance(node.op, ast.MatMult)]  # fmt: skip
        for factor in factors:
            text = cell.code.source(factor)
            text = text if re.fullmatch(r"[\w.()\[\], ]+", text) else f"({text})"
            return cell.replace(f"{why} Transposed, the right one fits.", factor, f"{text}.T")
    return Fix(why)


def _known_shapes(cell: FailingCell) -> tuple[str, str] | None:
    """The shapes of two multiplied arrays, if the kernel knows them."""
    for node in cell.find(ast.BinOp):
        known = [cell.variable(base_name(operand)) for operand in (node.left, node.right)]
        sizes = [_DIMENSIONS.match(variable.about) if variable else None for variable in known]
        if isinstance(node.op, ast.MatMult) and sizes[0] and sizes[1]:
            left_shape, right_shape = (found[0].replace(" × ", ",") for found in sizes if found)
            return f"({left_shape})", f"({right_shape})"
    return None


def _reshaped(cell: FailingCell, size: int, wanted: str) -> Fix | None:
    first = int(wanted.split(",")[0] or 0)
    for call in cell.calls("reshape"):
        if len(call.args) == 2 and first and size % first == 0:
            why = (
                f"{size} values do not fill the shape ({wanted}); `-1` lets numpy work out "
                "the other side."
            )
            return cell.replace(why, call.args[1], "-1")
    return Fix(f"The array has {size} values, which do not fill the shape ({wanted}).")


def _two_dimensional(cell: FailingCell) -> Fix | None:
    """scikit-learn expects a table, even for one column."""
    code = cell.code
    why = "scikit-learn needs the features as a table, even if it is one column."
    for call in cell.calls(*_ESTIMATOR):
        if not call.args:
            continue
        first = call.args[0]
        if isinstance(first, ast.Subscript) and isinstance(first.slice, ast.Constant):
            return cell.replace(why, first.slice, f"[{code.source(first.slice)}]")
        if isinstance(first, ast.Name) and cell.type_of(first.id) == "Series":
            return cell.replace(why, first, f"{first.id}.to_frame()")
        new = f"{cell.alias('numpy')}.reshape({code.source(first)}, (-1, 1))"
        return cell.replace(why, first, new, imports="numpy")
    return None


def _sample(cell: FailingCell) -> Fix | None:
    code = cell.code
    for call in cell.calls("sample"):
        given = call.args[0] if call.args else getattr(code.keyword(call, "n"), "value", None)
        if given is not None and isinstance(call.func, ast.Attribute):
            new = f"min({code.source(given)}, len({code.source(call.func.value)}))"
            return cell.replace("The table has fewer rows than you asked for.", given, new)
    return None


def out_of_range(cell: FailingCell) -> Fix | None:
    if cell.error.name != "IndexError":
        return None
    code = cell.code
    found = _OUT_OF.search(cell.message)
    said = f" It has {found[3]}, counted from 0." if found else " Positions are counted from 0."
    for node in cell.find(ast.Subscript):
        index = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if not isinstance(index, int) or index <= 0:
            continue
        is_next = (int(found[3]) if found else _size_of(cell, node.value)) == index
        why = f"`{code.source(node.value)}` has no position {index}.{said} `[-1]` is the last one."
        return cell.replace(why, node.slice, "-1") if is_next else Fix(why)
    if any(callee_name(loop) == "range" for loop in cell.find(ast.Call)):
        return Fix(
            "The loop runs past the end of the list: use `range(len(…))`, or loop over the list "
            "itself."
        )
    return Fix(f"This position is past the end.{said} `len(…)` tells how many there are.")


def _size_of(cell: FailingCell, node: ast.AST) -> int | None:
    if isinstance(node, ast.List):
        return len(node.elts)
    variable = cell.variable(base_name(node))
    found = _SIZE.match(variable.about) if variable else None
    return int((found[1] or found[2]).replace(",", "")) if found else None
