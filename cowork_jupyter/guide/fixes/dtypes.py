"""Text where numbers or dates are wanted, and the other way round."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .cell import FailingCell, Fix, base_name, called

_NOT_A_NUMBER = re.compile(
    r"could not convert string to (?:float|int)[^'\"]*['\"](.{0,80}?)['\"]"
    r"|invalid literal for int\(\) with base 10: '(.{0,80}?)'"
    r"|Unable to parse string \"?'?(.{0,80}?)'?\"? at position"
)
_GROUPED = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_DECIMAL_COMMA = re.compile(r"-?\d+,\d+")
_NO_MEAN = re.compile(
    r"agg function failed|[Cc]ould not convert .{0,400} to numeric|does not support operation"
    r"|Cannot perform reduction '\w+' with string dtype|Cannot aggregate non-numeric type"
    r"|no numeric data to"
)
_REDUCTIONS = frozenset({
    "mean", "median", "sum", "std", "var", "sem", "skew", "kurt", "corr", "cov", "prod", "min",
    "max", "quantile",
})  # fmt: skip
_TEXT = ("str", "object", "string", "String", "Utf8")
_NUMBERS = ("int", "float", "uint", "Int", "Float", "UInt")


def text_for_numbers(cell: FailingCell) -> Fix | None:
    """Numbers written as text: `1,234`, `12 €`, `n/a`."""
    found = _NOT_A_NUMBER.search(cell.message)
    if cell.error.name not in ("ValueError", "TypeError") or not found:
        return None
    text = next((part for part in found.groups() if part is not None), "")
    code = cell.code
    for call in code.find(ast.Call, cell.lines):
        name = called(call)
        if name == "astype" and isinstance(call.func, ast.Attribute):
            return _parsed_column(cell, call, text)
        if name == "to_numeric" and call.args and not code.keyword(call, "errors"):
            return _coerced(cell, call, text)
        if name in ("int", "float") and len(call.args) == 1:
            return _parsed_text(cell, call, text, name)
        if name in ("corr", "cov") and isinstance(call.func, ast.Attribute):
            return _numeric_only(cell, call)
    return None


def _parsed_column(cell: FailingCell, call: ast.Call, text: str) -> Fix | None:
    """`column.astype(float)`, with the disturbing characters removed."""
    code = cell.code
    assert isinstance(call.func, ast.Attribute)
    column = code.source(call.func.value)
    if not call.args or isinstance(call.args[0], ast.Dict):
        return _parsed_columns(cell, call, text)
    wanted = code.source(call.args[0]).strip("'\"")
    whole = wanted.startswith("int")
    if _GROUPED.fullmatch(text.strip()):
        cleaned = f'{column}.str.replace(",", "")'
        why = f"`{text}` has commas between the thousands."
    elif _DECIMAL_COMMA.fullmatch(text.strip()):
        cleaned = f'{column}.str.replace(",", ".")'
        why = f"`{text}` has a decimal comma."
    else:
        cleaned, why = column, f"`{text}` is no number."
    signs = "".join(sorted({sign for sign in text if sign in "$€£%"}))
    if signs and any(sign.isdigit() for sign in text):
        cleaned = f'{column}.str.replace(r"[{signs},\\s]", "", regex=True)'
        why = f"`{text}` has signs around the number."
    pandas = cell.alias("pandas", "pd")
    new = f'{pandas}.to_numeric({cleaned}, errors="coerce")'
    why += " What is no number becomes missing (NaN)."
    if whole:
        new += '.astype("Int64")'
    fixed = cell.with_import(code.edited(code.replaced(call, new)), "pandas", "pd")
    return Fix(why, fixed)


def _parsed_columns(cell: FailingCell, call: ast.Call, text: str) -> Fix | None:
    """`df.astype({"amount": int})` of a text column."""
    table = base_name(call)
    given = call.args[0] if call.args else None
    if not isinstance(given, ast.Dict) or table not in cell.tables:
        return None
    if len(given.keys) != 1 or not isinstance(given.keys[0], ast.Constant):
        return None
    name, wanted = str(given.keys[0].value), cell.code.source(given.values[0]).strip("'\"")
    pandas = cell.alias("pandas", "pd")
    parsed = f'{pandas}.to_numeric({table}["{name}"].str.replace(",", ""), errors="coerce")'
    parsed += '.astype("Int64")' if wanted.startswith("int") else ""
    named = f"{name}={parsed}" if name.isidentifier() else f'**{{"{name}": {parsed}}}'
    new = cell.code.edited(cell.code.replaced(call, f"{table}.assign({named})"))
    why = f"`{text}` is no plain number. What cannot be read becomes missing (NaN)."
    return Fix(why, cell.with_import(new, "pandas", "pd"))


def _coerced(cell: FailingCell, call: ast.Call, text: str) -> Fix:
    code = cell.code
    edits = []
    argument = code.source(call.args[0])
    if _GROUPED.fullmatch(text.strip()):
        edits.append(code.replaced(call.args[0], f'{argument}.str.replace(",", "")'))
    end = code.span(call)[1] - 1
    edits.append((end, end, ', errors="coerce"'))
    why = f"`{text}` is no plain number. What cannot be read becomes missing (NaN)."
    return Fix(why, code.edited(*edits))


def _parsed_text(cell: FailingCell, call: ast.Call, text: str, name: str) -> Fix | None:
    """`int("3.5")` and `float("1,5")`."""
    code, value = cell.code, text.strip()
    argument = code.source(call.args[0])
    if name == "int" and re.fullmatch(r"-?\d+\.\d*", value):
        why = f"`{text}` is not a whole number: read it as one with decimals first."
        return Fix(why, code.edited(code.replaced(call, f"int(float({argument}))")))
    if _GROUPED.fullmatch(value):
        new, why = f'{argument}.replace(",", "")', f"`{text}` has commas between the thousands."
    elif _DECIMAL_COMMA.fullmatch(value):
        new, why = f'{argument}.replace(",", ".")', f"`{text}` has a decimal comma."
    else:
        return Fix(f"`{text}` is no number. Clean the text first, or skip it.")
    return Fix(why, code.edited(code.replaced(call.args[0], new)))


def numbers_only(cell: FailingCell) -> Fix | None:
    if cell.error.name not in ("TypeError", "DataError", "ValueError"):
        return None
    if not _NO_MEAN.search(cell.message[:5_000]):
        return None
    for call in cell.code.find(ast.Call, cell.lines):
        if called(call) in _REDUCTIONS and isinstance(call.func, ast.Attribute):
            is_of_module = cell.type_of(base_name(call)) == "module" and len(call.args) == 1
            column = _single_column(call.args[0] if is_of_module else call.func.value)
            if column is None:
                return None if is_of_module else _numeric_only(cell, call)
            code = cell.code
            new = cell.numbers_in(code.source(column), base_name(column))
            why = (
                "The column holds text. It is read as numbers first; what is none becomes "
                "missing (NaN)."
            )
            text = code.edited(code.replaced(column, new))
            return Fix(why, cell.with_import(text, "pandas", "pd"))
        if called(call) in ("agg", "aggregate"):
            return Fix(
                "A column of text cannot be aggregated like that. Name the columns of "
                "numbers, or `count` the others."
            )
    return None


def _single_column(node: ast.AST) -> ast.Subscript | None:
    """`df["a"]`, if that is what is aggregated."""
    is_column = isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)
    if is_column and isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return node
    return None


def _numeric_only(cell: FailingCell, call: ast.Call) -> Fix | None:
    if cell.code.keyword(call, "numeric_only"):
        return None
    end = cell.code.span(call)[1] - 1
    comma = ", " if call.args or call.keywords else ""
    why = "Some columns hold text, which has no such figure: only columns of numbers are taken."
    return Fix(why, cell.code.edited((end, end, f"{comma}numeric_only=True")))


def mixed_types(cell: FailingCell) -> Fix | None:
    message = cell.message
    if cell.error.name != "TypeError":
        return None
    is_plus = "can only concatenate str" in message or "must be str, not" in message
    is_pair = re.search(r"unsupported operand type\(s\) for (\S+): '(\w+)' and '(\w+)'", message)
    is_column = re.search(
        r"operation '\w+' not supported for dtype|Can only string multiply by an integer", message
    )
    has_text = is_plus or bool(is_pair and "str" in is_pair.groups())
    if (is_column or has_text) and (fix := _converted_column(cell)):
        return fix
    if has_text:
        return _summed_text(cell) or _joined_text(cell)
    if is_pair and "NoneType" in is_pair.groups():
        return Fix(
            "One side is `None`: what should have given a value has returned nothing. "
            "Look at where it comes from; methods with `inplace=True` return nothing."
        )
    return None


def _converted_column(cell: FailingCell) -> Fix | None:
    """`df["units"] + df["amount"]` where one is text."""
    pandas, code = cell.alias("pandas", "pd"), cell.code
    for node in code.find(ast.BinOp, cell.lines):
        sides = list(_columns(cell, node))
        text = [side for side, kind in sides if _is_text(kind)]
        numbers = [side for side, kind in sides if kind.startswith(_NUMBERS)]
        dates = any(
            "Timestamp" in code.source(side) or "datetime" in code.source(side)
            for side in (node.left, node.right)
        )
        if text and dates:
            edits = [
                code.replaced(side, f"{pandas}.to_datetime({code.source(side)})") for side in text
            ]
            why = "The column holds text: it is read as dates first."
            return Fix(why, cell.with_import(code.edited(*edits), "pandas", "pd"))
        is_number = isinstance(node.op, (ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Pow))
        is_number = (
            is_number
            or bool(numbers)
            or any(
                isinstance(side, ast.Constant) and isinstance(side.value, (int, float))
                for side in (node.left, node.right)
            )
        )
        if text and is_number:
            edits = [
                code.replaced(side, cell.numbers_in(code.source(side), base_name(side)))
                for side in text
            ]
            why = "A column holds text: it is read as numbers; what is none becomes missing (NaN)."
            return Fix(why, cell.with_import(code.edited(*edits), "pandas", "pd"))
        if numbers and any(_is_string(child) for child in ast.walk(node)):
            edits = [
                code.replaced(number, f"{code.source(number)}.astype(str)") for number in numbers
            ]
            return Fix("A column of numbers must become text first.", code.edited(*edits))
    return None


def _columns(cell: FailingCell, node: ast.BinOp) -> Iterator[tuple[ast.expr, str]]:
    """The operand columns with their types."""
    for side in (node.left, node.right):
        if isinstance(side, ast.BinOp):
            yield from _columns(cell, side)
        if isinstance(side, ast.Call) and isinstance(side.func, ast.Attribute):
            side = side.func.value if side.func.attr in _REDUCTIONS else side
        columns = cell.tables.get(base_name(side), {})
        if isinstance(side, ast.Subscript) and isinstance(side.slice, ast.Constant):
            yield side, columns.get(str(side.slice.value), "")
        elif isinstance(side, ast.Attribute):
            yield side, columns.get(side.attr, "")


def _summed_text(cell: FailingCell) -> Fix | None:
    """`sum(column)` of a text column."""
    code = cell.code
    for call in code.find(ast.Call, cell.lines):
        column = _single_column(call.args[0]) if len(call.args) == 1 else None
        if called(call) == "sum" and column is not None and isinstance(column.slice, ast.Constant):
            kind = cell.tables.get(base_name(column), {}).get(str(column.slice.value), "")
            if _is_text(kind):
                new = f"{cell.numbers_in(code.source(column), base_name(column))}.sum()"
                why = "The column holds text: it is read as numbers first."
                return Fix(why, code.edited(code.replaced(call, new)))
    return None


def _joined_text(cell: FailingCell) -> Fix | None:
    code = cell.code
    for node in code.find(ast.BinOp, cell.lines):
        if not isinstance(node.op, ast.Add):
            continue
        sides = (node.left, node.right)
        if not any(_is_textual(cell, side) for side in sides):
            continue
        numbers = [side for side in sides if not _is_textual(cell, side) and not _holds_text(side)]
        if numbers:
            edits = [code.replaced(number, f"str({code.source(number)})") for number in numbers]
            return Fix(
                "Text and a number cannot be joined: make text of the number first.",
                code.edited(*edits),
            )
    return Fix(
        "Text and numbers meet here. Make both the same first: `str(…)` to join them as "
        "text, `float(…)` to calculate."
    )


def _is_string(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _is_textual(cell: FailingCell, node: ast.AST) -> bool:
    if isinstance(node, ast.Name):
        return cell.type_of(node.id) == "str"
    if isinstance(node, ast.Call):
        return called(node) in ("str", "join", "upper", "lower", "format", "strip", "replace")
    return _is_string(node)


def _holds_text(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and any(_is_string(child) for child in ast.walk(node))


def _is_text(kind: str) -> bool:
    return kind.startswith(_TEXT)
