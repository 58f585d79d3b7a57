"""Values of the wrong type: conditions on columns, texts for numbers, texts for dates."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from ..reading.tokens import word_set
from ..tables import MISSING, column_of, date_format_of, fits_date_format, is_number
from .cell import CellCode, Edit, FailingCell, Fix, KnownColumn, base_name, callee_name

_SIGNS = re.compile(r"[$€£¥%\s]")
_PARTS = {"%d": "%m", "%m": "%d"}


def _present(texts: Sequence[str]) -> list[str]:
    return [text for text in texts if text.strip() not in MISSING]


def _are_mostly(found: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether few of the known texts would become missing."""
    return bool(found) and 2 * len(found) >= len(_present(texts))


def _as_numbers(
    cell: FailingCell, expression: str, column: KnownColumn, *, whole: bool = False
) -> str:
    """Code that parses a column of texts; empty if most of them are no numbers."""
    texts = column.texts
    numbers = [bare for text in _present(texts) if is_number(bare := _SIGNS.sub("", text))]
    facts = column_of("", numbers)
    if facts.kind != "number" or not _are_mostly(numbers, texts):
        return ""
    written = "".join(text.strip() for text in texts if any(map(str.isdigit, text)))
    signs = "".join(sorted({r"\s" if sign.isspace() else sign for sign in _SIGNS.findall(written)}))
    steps = f'.str.replace(r"[{signs}]", "", regex=True)' if signs else ""
    steps += f'.str.replace("{facts.thousands}", "")' if facts.thousands else ""
    steps += '.str.replace(",", ".")' if facts.decimal == "," else ""
    if steps and column.dtype == "object":  # `.str` would lose numbers among the texts
        steps = f'.astype("string"){steps}'
    are_whole = whole and not any(facts.decimal in number for number in numbers)
    ending = '.astype("Int64")' if are_whole else ""
    return f'{cell.pandas}.to_numeric({expression}{steps}, errors="coerce"){ending}'


def as_dates(cell: FailingCell, node: ast.AST) -> str:
    """Code that parses a column as dates; empty if what is known of it is something else."""
    column = cell.column(node)
    options = "" if column is None else _date_options(column)
    parse = f"{cell.pandas}.to_datetime({cell.code.source(node)}"
    return "" if options is None else f"{parse}{options})"


def _date_options(column: KnownColumn) -> str | None:
    """Arguments with which `to_datetime` reads a column; None if it has no clear dates."""
    dates = [text for text in _present(column.texts) if date_format_of([text])]
    form = date_format_of(dates)
    if not (column.is_text and form and _are_mostly(dates, column.texts)):
        return None
    if not form.startswith("%Y") and "." not in form and fits_date_format(dates, swapped(form)):
        return None  # nobody can tell the day from the month
    options = "" if form.startswith("%Y") else f', format="{form}"'
    is_all = len(dates) == len(_present(column.texts))
    return options if is_all else f'{options}, errors="coerce"'


def swapped(form: str) -> str:
    """With day and month in each other's place; no format if the month is written as a word."""
    return re.sub("%[dm]", lambda part: _PARTS[part[0]], form) if "%m" in form else "-"


def _example(column: KnownColumn) -> str:
    return f"text such as `{column.texts[0]}`" if column.texts else f"`{column.dtype}` values"


def _not_numbers(column: KnownColumn) -> Fix:
    return Fix(
        f"`{column.name}` has {_example(column)}, which I cannot read as numbers. Choose a column "
        "of numbers, or clean its text first."
    )


def not_dates(column: KnownColumn) -> Fix:
    if column.is_number:
        return Fix(
            "The column contains numbers, not dates. `pd.to_datetime(column, unit=…)` converts "
            "them, if you know their unit."
        )
    return Fix(
        f"`{column.name}` has {_example(column)}, which I cannot surely read as dates. If they "
        "are, name their format: `pd.to_datetime(column, format=…)`."
    )


_OF_PRECEDENCE = re.compile(r"\br?(?:and|or)_|for [&|]")


def column_condition(cell: FailingCell) -> Fix | None:
    """`a > 1 & b > 2` and `a and b` of columns."""
    is_ambiguous = "truth value of" in cell.message
    if cell.error.name not in ("ValueError", "TypeError"):
        return None
    if not is_ambiguous and not _OF_PRECEDENCE.search(cell.message):
        return None
    return _parenthesized(cell) or (_combined(cell) if is_ambiguous else None)


def _combined(cell: FailingCell) -> Fix | None:
    """`a and b` becomes `(a) & (b)`."""
    if any(isinstance(node, (ast.If, ast.While, ast.IfExp)) for node in cell.find(ast.AST)):
        return Fix(
            "A whole column is neither true nor false. `.any()` asks whether one of its values "
            "is, `.all()` whether all are; combine columns with `&` and `|`."
        )
    conditions = [node for node in cell.find(ast.expr) if _is_of_single_values(node)]
    outermost = [node for node in conditions if not any(around in conditions
                 for around in cell.code.above(node))]  # fmt: skip
    if len(outermost) != 1:
        return None
    why = (
        "`and`, `or` and `not` are for single values; combine columns with `&`, `|` and `~`, each "
        "condition in parentheses."
    )
    return cell.replace(why, outermost[0], _elementwise(cell.code, outermost[0]))


def _is_of_single_values(node: ast.AST) -> bool:
    is_not = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    return is_not or isinstance(node, ast.BoolOp)


def _elementwise(code: CellCode, node: ast.AST) -> str:
    match node:
        case ast.BoolOp(op=op, values=values):
            sign = " & " if isinstance(op, ast.And) else " | "
            return sign.join(f"({_elementwise(code, value)})" for value in values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return f"~({_elementwise(code, operand)})"
    return code.source(node)


def _parenthesized(cell: FailingCell) -> Fix | None:
    """`a > 1 & b == 2`: `&` binds tighter than `>`."""
    for node in cell.find(ast.Compare):
        start, end = cell.code.span(node)
        joints = [edit for side in (node.left, *node.comparators)
                  for edit in _joints(cell.code, side)]  # fmt: skip
        if joints:
            why = "`&` and `|` bind tighter than comparisons: put each condition in parentheses."
            return cell.edit(why, (start, start, "("), *joints, (end, end, ")"))
    return None


def _joints(code: CellCode, node: ast.AST) -> Iterator[Edit]:
    """Parentheses around the `&` and `|` of an expression that is in none itself."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.BitAnd, ast.BitOr)):
        return
    start, end = code.span(node.left)[1], code.span(node.right)[0]
    found = re.compile(r"\s*([&|])\s*").search(code.text, start, end)
    before = code.text[: code.span(node)[0]].rstrip()
    if found and not before.endswith("("):
        yield (found.start(), found.end(), f") {found[1]} (")
        yield from _joints(code, node.left)


_MISMATCH = re.compile(r'time data "(.{0,80}?)" doesn\'t match format "(.{0,80}?)"')
_DAY_FIRST = re.compile(r"\d{1,2}\.|(?:1[3-9]|[23]\d)[/-]")
_NO_DATES = Fix(
    'Some values are not dates. Look at them first; `errors="coerce"` makes them missing (NaT).'
)


def date_format(cell: FailingCell) -> Fix | None:
    if "not likely a datetime" in cell.message or "Unknown datetime string" in cell.message:
        return _NO_DATES
    found = _MISMATCH.search(cell.message)
    calls = [call for call in cell.calls("to_datetime") if not cell.code.keyword(call, "errors")]
    return _with_format(cell, calls[0], *found.groups()) if found and len(calls) == 1 else None


def _with_format(cell: FailingCell, call: ast.Call, text: str, expected: str) -> Fix:
    """`expected` was given, or is what pandas guessed from the first value."""
    code, given = cell.code, cell.code.keyword(call, "format")
    guess = expected.replace("%m.%d.", "%d.%m.")  # with dots, nobody writes the month first
    texts = _texts_in(cell, call)
    others = [other for other in texts if _is_date(other, guess)]
    known = [*others, text] if _is_date(text, guess) else others
    if not _are_mostly(known, texts):
        return _NO_DATES
    form = guess if fits_date_format(known, guess) else date_format_of(known)
    if not (others or given or form in (guess, swapped(guess))):
        form = ""  # the values before fit what was expected, and this one does not
    why, options = [], ""
    if form and form != expected:
        why.append(f"The known dates fit `{form}`, not `{expected}`.")
    elif not form:
        why.append("Not all dates have the same format.")
        is_day_first = guess.startswith("%d") or any(map(_DAY_FIRST.match, known))
        if is_day_first and not code.keyword(call, "dayfirst"):
            options += ", dayfirst=True"
    wanted = f'"{form or "mixed"}"'
    if not given:
        options += f", format={wanted}"
    if text not in known:
        why.append(f"`{text}` is not a date. What is not a date becomes missing (NaT).")
        options += ', errors="coerce"'
    edits = [code.replacement(given.value, wanted)] if given and form != expected else []
    edits += [code.append_argument(call, options.strip(", "))] if options else []
    return cell.edit(" ".join(why), *edits)


def _is_date(text: str, guess: str) -> bool:
    return bool(date_format_of([text])) or fits_date_format([text], guess)


def _texts_in(cell: FailingCell, call: ast.Call) -> list[str]:
    """What is parsed, as far as it is known: a list in the code, or the first rows of a column."""
    match call.args[:1]:
        case [ast.List(elts=items)]:
            return [str(item.value) for item in items if isinstance(item, ast.Constant)]
        case [node]:
            column = cell.column(node)
            return list(column.texts) if column else []
    return []


def text_for_dates(cell: FailingCell) -> Fix | None:
    """`.dt` on text."""
    for node in cell.find(ast.Attribute) if "Can only use .dt accessor" in cell.message else ():
        column = cell.column(node.value)
        if node.attr == "dt" and not (column and column.is_date):
            new = as_dates(cell, node.value)
            if not new:
                return not_dates(column) if column else _NO_DATES
            why = "The column does not contain dates yet: convert it first."
            return cell.replace(why, node.value, new)
    return None


_NOT_A_NUMBER = re.compile(
    r"could not convert string to (?:float|int)[^'\"]*['\"](.{0,80}?)['\"]"
    r"|invalid literal for int\(\) with base 10: '(.{0,80}?)'"
    r"|Unable to parse string \"?'?(.{0,80}?)'?\"? at position"
)
_NO_MEAN = re.compile(
    r"agg function failed|[Cc]ould not convert .{0,400} to numeric|does not support operation"
    r"|Cannot perform reduction '\w+' with string dtype|Cannot aggregate non-numeric type"
    r"|no numeric data to"
)
_OF_COLUMN = re.compile(
    r"operation '\w+' not supported for dtype|Can only string multiply by an integer|"
    r"ufunc 'add' did not contain a loop"
)
_OTHER = re.compile("Timestamp|date|NoneType")
_OF_TWO = re.compile(r"unsupported operand type\(s\) for \S+: '(\w+)' and '(\w+)'")
_OF_STR = re.compile(r'can only concatenate str \(not "(\w+)"')
_REDUCTIONS = word_set("mean median sum std var corr cov prod min max quantile")
_TEXT_CALLS = word_set("str join upper lower format strip replace")
_BECOMES_MISSING = "What is not a number becomes missing (NaN)."
_AS_NUMBERS = f"The column contains text: convert it to numbers first. {_BECOMES_MISSING}"


def text_for_numbers(cell: FailingCell) -> Fix | None:
    """Numbers written as text: `1,234`, `12 €`, `n/a`."""
    found = _NOT_A_NUMBER.search(cell.message)
    if cell.error.name not in ("ValueError", "TypeError") or not found:
        return None
    text = next((part for part in found.groups() if part is not None), "")
    calls = list(cell.calls("astype", "to_numeric", "corr", "cov"))
    fixes = [fix for call in calls if (fix := _parsed(cell, call, text))]
    if len(fixes) == 1:
        return fixes[0]
    return Fix(f"`{text}` is not a plain number. Clean the text first, or skip it.")


def _parsed(cell: FailingCell, call: ast.Call, text: str) -> Fix | None:
    """`column.astype(float)` and `to_numeric(column)`, or `corr` of a table with texts."""
    dtype = ""
    match callee_name(call), call.func, call.args:
        case "corr" | "cov", _, _:
            return _numeric_only(cell, call)
        case "to_numeric", _, [node] if not call.keywords:
            pass
        case "astype", ast.Attribute(value=node), [kind]:
            dtype = cell.code.source(kind).strip("'\"")
        case _:
            return None
    column = cell.column(node)
    if column is None or not column.is_text:
        return None
    new = _as_numbers(cell, cell.code.source(node), column, whole=dtype.startswith("int"))
    if not new:
        return _not_numbers(column)
    why = f"`{text}` is no plain number. {_BECOMES_MISSING}"
    return cell.replace(why, call, new)


def numbers_only(cell: FailingCell) -> Fix | None:
    """The mean of a column of text, or of a table that has some."""
    if cell.error.name not in ("TypeError", "DataError") or not _NO_MEAN.search(cell.message):
        return None
    for call in cell.calls(*_REDUCTIONS):
        if not isinstance(call.func, ast.Attribute):
            continue
        if column := cell.column(call.func.value):
            return _of_numbers(cell, call.func.value, column)
        if cell.type_of(base_name(call)) != "module":
            return _numeric_only(cell, call)
    return None


def _of_numbers(cell: FailingCell, owner: ast.expr, column: KnownColumn) -> Fix:
    """The mean of a column, or of its groups."""
    is_grouped = any(isinstance(node, ast.Call) for node in ast.walk(owner))
    plain = f'{column.table}["{column.name}"]' if is_grouped else cell.code.source(owner)
    new = _as_numbers(cell, plain, column)
    if not new:
        return _not_numbers(column)
    if is_grouped:
        return Fix(f"`{column.name}` contains text: convert it first. `{plain} = {new}`")
    return cell.replace(_AS_NUMBERS, owner, new)


def _numeric_only(cell: FailingCell, call: ast.Call) -> Fix | None:
    table = base_name(call)
    known = [cell.known_column(table, name) for name in cell.tables.get(table, {})]
    if cell.code.keyword(call, "numeric_only") or any(map(cell.column, ast.walk(call))):
        return None
    if known and not any(column and column.is_number for column in known):
        return Fix(f"`{table}` has no column of numbers.")
    why = "Some columns contain text: use only the numeric columns."
    return cell.edit(why, cell.code.append_argument(call, "numeric_only=True"))


def mixed_types(cell: FailingCell) -> Fix | None:
    """Text and numbers in one sum, of columns or of single values."""
    found = _OF_TWO.search(cell.message) or _OF_STR.search(cell.message)
    is_mixed = "str" in found.groups() or found.re is _OF_STR if found else False
    is_known = is_mixed or _OF_COLUMN.search(cell.message)
    is_type_error = cell.error.name in ("TypeError", "UFuncTypeError")
    if not is_type_error or not is_known or _OTHER.search(cell.message):
        return None
    return (
        _converted_column(cell)
        or _joined_text(cell)
        or Fix(
            "This mixes text with something else. Convert one of them first: `str(…)`, or "
            "`.astype(str)` of a column, to join them as text, `float(…)` to calculate."
        )
    )


def _converted_column(cell: FailingCell) -> Fix | None:
    """`df["units"] + df["amount"]` where one is text."""
    for node in cell.find(ast.BinOp):
        text = [(side, column) for side in _operands(node)
                if (column := cell.column(side)) and column.is_text]  # fmt: skip
        new = [_as_numbers(cell, cell.code.source(side), column) for side, column in text]
        if text and all(new):
            edits = [cell.code.replacement(side, parsed)
                     for (side, _), parsed in zip(text, new, strict=True)]  # fmt: skip
            return cell.edit(_AS_NUMBERS, *edits)
        if text and not isinstance(node.op, ast.Add):
            return _not_numbers(text[0][1])
    return None


def _operands(node: ast.BinOp) -> Iterator[ast.expr]:
    for side in (node.left, node.right):
        if isinstance(side, ast.BinOp):
            yield from _operands(side)
        else:
            yield side


def _joined_text(cell: FailingCell) -> Fix | None:
    """`"Rows: " + 5` becomes `"Rows: " + str(5)`."""
    for node in cell.find(ast.BinOp):
        others = [side for side in (node.left, node.right) if not _is_text(side)]
        if isinstance(node.op, ast.Add) and len(others) == 1:
            other = cell.code.source(others[0])
            is_column = cell.error.name == "UFuncTypeError" or cell.column(others[0])
            text = f"{other}.astype(str)" if is_column else f"str({other})"
            why = "Text and a number cannot be joined: convert the number to text first."
            return cell.replace(why, others[0], text)
    return None


def _is_text(node: ast.AST) -> bool:
    """Whether code surely makes a text; of `"5" + 3`, nobody knows whether 8 or 53 is meant."""
    match node:
        case ast.Constant(value=str(text)):
            return not is_number(text)
        case ast.Call() as call:
            return callee_name(call) in _TEXT_CALLS
        case ast.BinOp(op=ast.Add(), left=first, right=second):
            return _is_text(first) or _is_text(second)
    return isinstance(node, ast.JoinedStr)
