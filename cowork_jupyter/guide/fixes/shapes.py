"""Lengths and shapes that do not fit each other."""

from __future__ import annotations

import ast
import re

from .cell import FailingCell, Fix, base_name, called

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


def shapes(cell: FailingCell) -> Fix | None:
    if cell.error.name not in ("ValueError", "IndexError"):
        return None
    message = cell.message
    if (
        "All arrays must be of the same length" in message
        or "arrays must all be same length" in message
    ):
        return _of_columns(cell)
    if found := _LENGTH.search(message):
        return Fix(
            f"The new column has {found[1]} values, the table {found[2]} rows. Give one value "
            f"for each row, or a Series with the table's index: missing ones become NaN.",
            _as_series(cell),
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
            f"These arrays have the shapes {found[1]} and {found[2]}, which do not fit. Bring "
            "both to the same length, or `reshape` one so that its other dimension is 1."
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
            "The inner lists have different lengths, so they are no array. Fill them up to "
            "the same length, or keep a plain list."
        )
    if "Cannot take a larger sample than population" in message:
        return _sample(cell)
    return None


def _of_columns(cell: FailingCell) -> Fix | None:
    """`pd.DataFrame({…})` of lists of unequal length."""
    pandas, code = cell.alias("pandas"), cell.code
    for call in cell.find(ast.Call):
        if called(call) == "DataFrame" and call.args and isinstance(call.args[0], ast.Dict):
            values = [value for value in call.args[0].values if not isinstance(value, ast.Constant)]
            edits = [
                code.replaced(value, f"{pandas}.Series({code.source(value)})") for value in values
            ]
            return cell.edit(
                "The columns have different lengths. As Series, the shorter ones are filled "
                "with missing values (NaN); check that this is what you want.",
                *edits,
            )
    return Fix(
        "The columns have different lengths. Make them the same, or wrap each in "
        "`pd.Series(…)` to fill the shorter ones with NaN."
    )


def _as_series(cell: FailingCell) -> str | None:
    pandas, code = cell.alias("pandas"), cell.code
    for assigned in cell.find(ast.Assign):
        target = assigned.targets[0]
        if isinstance(target, ast.Subscript) and base_name(target):
            table, value = base_name(target), code.source(assigned.value)
            new = f"{pandas}.Series({value}, index={table}.index[: len({value})])"
            rows = _LENGTH.search(cell.message)
            if rows and int(rows[1]) > int(rows[2]):
                owner = value if value.isidentifier() else f"({value})"
                new = f"{owner}[: len({table})]"
            return cell.with_import(code.edited(code.replaced(assigned.value, new)), "pandas")
    return None


def _x_and_y(cell: FailingCell) -> Fix | None:
    sizes = _SHAPES.search(cell.message)
    said = f" ({sizes[1]} and {sizes[2]} values)" if sizes else ""
    code = cell.code
    for call in cell.find(ast.Call):
        if called(call) in ("plot", "scatter", "bar") and len(call.args) >= 2:
            x, y = (code.source(arg) for arg in call.args[:2])
            if not (x.isidentifier() and y.isidentifier()):
                continue
            edits = [(*code.span(arg), f"{code.source(arg)}[:size]") for arg in call.args[:2]]
            text = code.edited(*edits)
            statement = code.statement_of(call)
            assert statement is not None
            start = code.span(statement)[0]
            text = f"{text[:start]}size = min(len({x}), len({y}))\n{text[start:]}"
            return Fix(
                f"`{x}` and `{y}` have different lengths{said}. This draws as many as both "
                "have; better find out why they differ.",
                text,
            )
    return Fix(f"x and y have different lengths{said}. Both must come from the same rows.")


def _transposed(cell: FailingCell, left_shape: str, right_shape: str) -> Fix | None:
    code = cell.code
    sizes = [
        [int(number) for number in text.strip("()").split(",") if number]
        for text in (left_shape, right_shape)
    ]
    why = (
        "A product needs as many columns on the left as rows on the right; these are "
        f"{left_shape} and {right_shape}."
    )
    if len(sizes[1]) == 2 and sizes[0][-1] == sizes[1][1]:
        for call in cell.find(ast.Call):
            if called(call) in ("dot", "matmul") and call.args:
                last = call.args[-1]
                text = code.edited(code.replaced(last, f"{_bracketed(code.source(last))}.T"))
                return Fix(f"{why} Transposed, the right one fits.", text)
        for node in cell.find(ast.BinOp):
            if isinstance(node.op, ast.MatMult):
                text = code.edited(
                    code.replaced(node.right, f"{_bracketed(code.source(node.right))}.T")
                )
                return Fix(f"{why} Transposed, the right one fits.", text)
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


def _bracketed(text: str) -> str:
    return text if re.fullmatch(r"[\w.()\[\], ]+", text) else f"({text})"


def _reshaped(cell: FailingCell, size: int, wanted: str) -> Fix | None:
    code = cell.code
    first = int(wanted.split(",")[0] or 0)
    for call in cell.find(ast.Call):
        if called(call) == "reshape" and len(call.args) == 2 and first and size % first == 0:
            text = code.edited(code.replaced(call.args[1], "-1"))
            return Fix(
                f"{size} values do not fill the shape ({wanted}); `-1` lets numpy work out "
                "the other side.",
                text,
            )
    return Fix(f"The array has {size} values, which do not fill the shape ({wanted}).")


def _two_dimensional(cell: FailingCell) -> Fix | None:
    """scikit-learn expects a table, even for one column."""
    code = cell.code
    for call in cell.find(ast.Call):
        if called(call) not in (
            "fit",
            "predict",
            "transform",
            "fit_transform",
            "score",
            "fit_predict",
        ):
            continue
        if not call.args:
            continue
        first = call.args[0]
        column = isinstance(first, ast.Subscript) and isinstance(first.slice, ast.Constant)
        if column and isinstance(first, ast.Subscript):
            edit = code.replaced(first.slice, f"[{code.source(first.slice)}]")
        elif isinstance(first, ast.Name) and cell.type_of(first.id) == "Series":
            edit = code.replaced(first, f"{first.id}.to_frame()")
        else:
            numpy = cell.alias("numpy")
            edit = code.replaced(first, f"{numpy}.reshape({code.source(first)}, (-1, 1))")
            text = cell.with_import(code.edited(edit), "numpy")
            return Fix(
                "scikit-learn wants the features as a table, also if it is one column.", text
            )
        return cell.edit(
            "scikit-learn wants the features as a table, also if it is one column.", edit
        )
    return None


def _sample(cell: FailingCell) -> Fix | None:
    code = cell.code
    for call in cell.find(ast.Call):
        given = call.args[0] if call.args else getattr(code.keyword(call, "n"), "value", None)
        if called(call) == "sample" and given is not None and isinstance(call.func, ast.Attribute):
            table = code.source(call.func.value)
            new = f"min({code.source(given)}, len({table}))"
            return cell.replace("The table has fewer rows than were asked for.", given, new)
    return None


def _size_of(cell: FailingCell, node: ast.AST, known: str) -> int | None:
    if known:
        return int(known)
    if isinstance(node, ast.List):
        return len(node.elts)
    variable = cell.variable(base_name(node))
    found = _SIZE.match(variable.about) if variable else None
    return int((found[1] or found[2]).replace(",", "")) if found else None


def out_of_range(cell: FailingCell) -> Fix | None:
    if cell.error.name != "IndexError":
        return None
    code = cell.code
    found = _OUT_OF.search(cell.message)
    said = f" It has {found[3]}, counted from 0." if found else " Places are counted from 0."
    for node in cell.find(ast.Subscript):
        index = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if not isinstance(index, int) or index <= 0:
            continue
        is_next = _size_of(cell, node.value, found[3] if found else "") == index
        why = f"`{code.source(node.value)}` has no place {index}.{said} `[-1]` is the last one."
        return Fix(why, code.edited(code.replaced(node.slice, "-1")) if is_next else None)
    for loop in cell.find(ast.Call):
        if called(loop) == "range":
            return Fix(
                "The loop counts further than the list goes: use `range(len(…))`, or loop "
                "over the list itself."
            )
    return Fix(f"This place is behind the end.{said} `len(…)` tells how many there are.")
