"""Text where numbers or dates are expected, and the other way round."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .cell import FailingCell, Fix, base_name, callee_name

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
_TEXT_AND_DATE = r"Invalid comparison between dtype=(?:str|object) and (?:Timestamp|date)"
_REDUCTIONS = frozenset({
    "mean", "median", "sum", "std", "var", "sem", "skew", "kurt", "corr", "cov", "prod", "min",
    "max", "quantile",
})  # fmt: skip
_TEXT = ("str", "object", "string", "String", "Utf8")
_NUMBERS = ("int", "float", "uint", "Int", "Float", "UInt")
_NO_PLAIN_NUMBER = "`{0}` is not a plain number. What cannot be parsed becomes missing (NaN)."
_AS_DATES = "The column contains text: convert it to dates first."


def text_for_numbers(cell: FailingCell) -> Fix | None:
    """Numbers written as text: `1,234`, `12 €`, `n/a`."""
    found = _NOT_A_NUMBER.search(cell.message)
    if cell.error.name not in ("ValueError", "TypeError") or not found:
        return None
    text = next((part for part in found.groups() if part is not None), "")
    for call in cell.find(ast.Call):
        name = callee_name(call)
        if name == "astype" and isinstance(call.func, ast.Attribute):
            return _parsed_column(cell, call, call.func.value, text)
        if name == "to_numeric" and call.args and not cell.code.keyword(call, "errors"):
            return _coerced(cell, call, text)
        if name in ("int", "float") and len(call.args) == 1:
            return _parsed_text(cell, call, text, name)
        if name in ("corr", "cov") and isinstance(call.func, ast.Attribute):
            return _numeric_only(cell, call)
    return None


def _without_commas(expression: str, text: str, accessor: str = "") -> tuple[str, str]:
    """The expression without thousands separators or decimal commas, and what was wrong."""
    if _GROUPED.fullmatch(text.strip()):
        why = f"`{text}` has commas between the thousands."
        return f'{expression}{accessor}.replace(",", "")', why
    if _DECIMAL_COMMA.fullmatch(text.strip()):
        return f'{expression}{accessor}.replace(",", ".")', f"`{text}` has a decimal comma."
    return expression, ""


def _parsed_column(cell: FailingCell, call: ast.Call, owner: ast.expr, text: str) -> Fix | None:
    """`column.astype(float)`, with the disturbing characters removed."""
    if not call.args or isinstance(call.args[0], ast.Dict):
        return _parsed_columns(cell, call, text)
    column = cell.code.source(owner)
    cleaned, why = _without_commas(column, text, ".str")
    why = why or f"`{text}` is no number."
    signs = "".join(sorted({sign for sign in text if sign in "$€£%"}))
    if signs and any(sign.isdigit() for sign in text):
        cleaned = f'{column}.str.replace(r"[{signs},\\s]", "", regex=True)'
        why = f"`{text}` has symbols around the number."
    new = f'{cell.alias("pandas")}.to_numeric({cleaned}, errors="coerce")'
    if cell.code.source(call.args[0]).strip("'\"").startswith("int"):
        new += '.astype("Int64")'
    why += " What is not a number becomes missing (NaN)."
    return cell.replace(why, call, new, imports="pandas")


def _parsed_columns(cell: FailingCell, call: ast.Call, text: str) -> Fix | None:
    """`df.astype({"amount": int})` of a text column."""
    table = base_name(call)
    given = call.args[0] if call.args else None
    if not isinstance(given, ast.Dict) or table not in cell.tables:
        return None
    if len(given.keys) != 1 or not isinstance(given.keys[0], ast.Constant):
        return None
    name, wanted = str(given.keys[0].value), cell.code.source(given.values[0]).strip("'\"")
    column = f'{table}["{name}"].str.replace(",", "")'
    parsed = f'{cell.alias("pandas")}.to_numeric({column}, errors="coerce")'
    parsed += '.astype("Int64")' if wanted.startswith("int") else ""
    named = f"{name}={parsed}" if name.isidentifier() else f'**{{"{name}": {parsed}}}'
    why = _NO_PLAIN_NUMBER.format(text)
    return cell.replace(why, call, f"{table}.assign({named})", imports="pandas")


def _coerced(cell: FailingCell, call: ast.Call, text: str) -> Fix:
    code = cell.code
    edits = [code.append_argument(call, ', errors="coerce"')]
    if _GROUPED.fullmatch(text.strip()):
        argument = call.args[0]
        edits.append(code.replacement(argument, f'{code.source(argument)}.str.replace(",", "")'))
    return cell.edit(_NO_PLAIN_NUMBER.format(text), *edits)


def _parsed_text(cell: FailingCell, call: ast.Call, text: str, name: str) -> Fix | None:
    """`int("3.5")` and `float("1,5")`."""
    argument = cell.code.source(call.args[0])
    if name == "int" and re.fullmatch(r"-?\d+\.\d*", text.strip()):
        why = f"`{text}` is not an integer: parse it as a float first."
        return cell.replace(why, call, f"int(float({argument}))")
    new, why = _without_commas(argument, text)
    if not why:
        return Fix(f"`{text}` is not a number. Clean the text first, or skip it.")
    return cell.replace(why, call.args[0], new)


def numbers_only(cell: FailingCell) -> Fix | None:
    if cell.error.name not in ("TypeError", "DataError", "ValueError"):
        return None
    if not _NO_MEAN.search(cell.message[:5_000]):
        return None
    for call in cell.find(ast.Call):
        if callee_name(call) in _REDUCTIONS and isinstance(call.func, ast.Attribute):
            is_of_module = cell.type_of(base_name(call)) == "module" and len(call.args) == 1
            column = _single_column(call.args[0] if is_of_module else call.func.value)
            if column is None:
                return None if is_of_module else _numeric_only(cell, call)
            why = (
                "The column contains text: convert it to numbers first. What is not a number "
                "becomes missing (NaN)."
            )
            new = cell.numbers_in(cell.code.source(column), base_name(column))
            return cell.replace(why, column, new, imports="pandas")
        if callee_name(call) in ("agg", "aggregate"):
            return Fix(
                "A text column cannot be aggregated like that. Name the numeric columns, or "
                "`count` the others."
            )
    return None


def _single_column(node: ast.AST) -> ast.Subscript | None:
    """`df["a"]`, if that is what is aggregated."""
    match node:
        case ast.Subscript(value=ast.Name(), slice=ast.Constant()):
            return node
    return None


def _numeric_only(cell: FailingCell, call: ast.Call) -> Fix | None:
    if cell.code.keyword(call, "numeric_only"):
        return None
    comma = ", " if call.args or call.keywords else ""
    why = "Some columns contain text: use only the numeric columns."
    return cell.edit(why, cell.code.append_argument(call, f"{comma}numeric_only=True"))


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
            "One side is `None`: something returned nothing instead of a value. Check where it "
            "comes from; methods with `inplace=True` return nothing."
        )
    return None


def _converted_column(cell: FailingCell) -> Fix | None:
    """`df["units"] + df["amount"]` where one is text."""
    pandas, code = cell.alias("pandas"), cell.code
    for node in cell.find(ast.BinOp):
        operands = (node.left, node.right)
        sides = list(_columns(cell, node))
        text = [side for side, kind in sides if kind.startswith(_TEXT)]
        numbers = [side for side, kind in sides if kind.startswith(_NUMBERS)]
        if text and re.search("Timestamp|datetime", " ".join(map(code.source, operands))):
            read = f"{pandas}.to_datetime({{}})"
            edits = [code.replacement(side, read.format(code.source(side))) for side in text]
            return cell.edit(_AS_DATES, *edits, imports="pandas")
        is_number = (
            isinstance(node.op, (ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Pow))
            or bool(numbers)
            or any(isinstance(_constant(side), (int, float)) for side in operands)
        )
        if text and is_number:
            edits = [
                code.replacement(side, cell.numbers_in(code.source(side), base_name(side)))
                for side in text
            ]
            why = (
                "A column contains text: convert it to numbers. Other values become missing (NaN)."
            )
            return cell.edit(why, *edits, imports="pandas")
        if numbers and any(map(_is_string, ast.walk(node))):
            edits = [code.replacement(side, f"{code.source(side)}.astype(str)") for side in numbers]
            return cell.edit("Convert the numeric column to text first.", *edits)
    return None


def _constant(node: ast.AST) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def _columns(cell: FailingCell, node: ast.BinOp) -> Iterator[tuple[ast.expr, str]]:
    """The operand columns with their types."""
    for side in (node.left, node.right):
        if isinstance(side, ast.BinOp):
            yield from _columns(cell, side)
        if isinstance(side, ast.Call) and isinstance(side.func, ast.Attribute):
            side = side.func.value if side.func.attr in _REDUCTIONS else side
        if (kind := _column_type(cell, side)) is not None:
            yield side, kind


def _column_type(cell: FailingCell, column: ast.AST) -> str | None:
    """The dtype of `df["a"]` or `df.a`, empty if unknown; None for other expressions."""
    match column:
        case ast.Subscript(slice=ast.Constant(value=name)) | ast.Attribute(attr=name):
            return cell.tables.get(base_name(column), {}).get(str(name), "")
    return None


def _summed_text(cell: FailingCell) -> Fix | None:
    """`sum(column)` of a text column."""
    for call in cell.calls("sum"):
        column = _single_column(call.args[0]) if len(call.args) == 1 else None
        if column is not None and (_column_type(cell, column) or "").startswith(_TEXT):
            new = f"{cell.numbers_in(cell.code.source(column), base_name(column))}.sum()"
            return cell.replace("The column contains text: convert it to numbers first.", call, new)
    return None


def _joined_text(cell: FailingCell) -> Fix | None:
    code = cell.code
    for node in cell.find(ast.BinOp):
        sides = (node.left, node.right)
        if not isinstance(node.op, ast.Add) or not any(_is_textual(cell, side) for side in sides):
            continue
        edits = [
            code.replacement(side, f"str({code.source(side)})")
            for side in sides
            if not _is_textual(cell, side)
            and not (isinstance(side, ast.BinOp) and any(map(_is_string, ast.walk(side))))
        ]
        if edits:
            why = "Text and a number cannot be joined: convert the number to text first."
            return cell.edit(why, *edits)
    return Fix(
        "This mixes text and numbers. Convert one of them first: `str(…)` to join them as text, "
        "`float(…)` to calculate."
    )


def _is_string(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or isinstance(_constant(node), str)


def _is_textual(cell: FailingCell, node: ast.AST) -> bool:
    if isinstance(node, ast.Name):
        return cell.type_of(node.id) == "str"
    if isinstance(node, ast.Call):
        return callee_name(node) in ("str", "join", "upper", "lower", "format", "strip", "replace")
    return _is_string(node)


def wrong_accessor(cell: FailingCell) -> Fix | None:
    """`.dt` on text, `.str` on numbers, dates compared with text."""
    code, pandas = cell.code, cell.alias("pandas")
    for node in cell.find(ast.Attribute):
        if node.attr == "dt" and "Can only use .dt accessor" in cell.message:
            if (_column_type(cell, node.value) or "").startswith(("int", "float", "uint")):
                return Fix(
                    "The column contains numbers, not dates. `pd.to_datetime(column, unit=…)` "
                    "converts them, if you know their unit."
                )
            new = f"{pandas}.to_datetime({code.source(node.value)})"
            why = "The column does not contain dates yet: convert it first."
            return cell.replace(why, node.value, new, imports="pandas")
        if node.attr == "str" and "Can only use .str accessor" in cell.message:
            why = "The column does not contain text: convert it first."
            return cell.replace(why, node.value, f"{code.source(node.value)}.astype(str)")
    if re.search(_TEXT_AND_DATE, cell.message):
        for compared in cell.find(ast.Compare):
            column = compared.left
            if isinstance(column, (ast.Subscript, ast.Attribute)):
                new = f"{pandas}.to_datetime({code.source(column)})"
                return cell.replace(_AS_DATES, column, new, imports="pandas")
    return _dated_index(cell) if "Only valid with DatetimeIndex" in cell.message else None


def _dated_index(cell: FailingCell) -> Fix | None:
    """`df.resample("D")` of a table whose dates are a column."""
    for call in cell.calls("resample"):
        table = base_name(call)
        columns = cell.tables.get(table, {})
        dates = [name for name, kind in columns.items()
                 if "datetime" in kind or "date" in name.lower()]  # fmt: skip
        if len(dates) == 1 and isinstance(call.func, ast.Attribute):
            date = dates[0]
            if "datetime" in columns[date]:
                why = f"The dates are in the column `{date}`, not in the index."
                return cell.edit(why, cell.code.append_argument(call, f', on="{date}"'))
            new = f'{table}.set_index({cell.alias("pandas")}.to_datetime({table}["{date}"]))'
            why = f"The dates are in the column `{date}`, as text: make them the index first."
            return cell.replace(why, call.func.value, new)
    return Fix(
        "Only a table with dates as its index can be resampled: use "
        '`df.set_index(pd.to_datetime(df["date"]))` first.'
    )
