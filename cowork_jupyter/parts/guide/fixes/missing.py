"""What is not there: names, modules, files, columns, attributes and arguments."""

from __future__ import annotations

import ast
import builtins
import importlib
import re
import sys
from collections.abc import Iterator
from posixpath import basename

from ....domain.usual_imports import USUAL_IMPORTS
from ....tools.notebook.names import names_in
from ..reading.tokens import listed_names, word_set
from .cell import (
    KNOWN,
    CellCode,
    Edit,
    FailingCell,
    Fix,
    base_name,
    callee_name,
    nearest,
    quote_like,
)
from .types import as_dates, not_dates

_UNDEFINED = re.compile(r"name '(\w+)' is not defined|local variable '(\w+)' referenced")
_IMPORTS = {
    **USUAL_IMPORTS,
    **KNOWN["imports"],
    **{name: f"import {name}" for name in KNOWN["names"]["plain"].split()},
    **{name: f"from {module} import {name}"
       for module, names in KNOWN["members"].items() for name in names.split()},
}  # fmt: skip
_STANDARD = word_set(KNOWN["names"]["standard"])
_VALUES = ("int", "float", "str", "bool", "list", "dict", "tuple", "set", "DataFrame", "Series")
_SHORT = 3  # names of modules, which are near to many others


def undefined_name(cell: FailingCell) -> Fix | None:
    """Not run, not imported, or misspelled."""
    found = _UNDEFINED.match(cell.message)
    if cell.error.name not in ("NameError", "UnboundLocalError") or not found:
        return None
    name = found[1] or found[2]
    if instead := KNOWN["spellings"].get(name):
        return _spelled(cell, name, instead, f"In Python it is `{instead}`, not `{name}`.")
    return _defined_elsewhere(cell, name) or _import(cell, name) or _misspelled_name(cell, name)


def _defined_elsewhere(cell: FailingCell, name: str) -> Fix | None:
    defining = [
        (other.has_run, number)
        for number, other in cell.earlier()
        if (names := names_in(other.source)) and name in names.made
    ]
    if not defining:
        return None
    has_run, number = min(defining)
    state = "has not run since the kernel started" if has_run else "has not run yet"
    return Fix(f"`{name}` is defined in cell {number}, which {state}. Run cell {number} first.")


def _import(cell: FailingCell, name: str) -> Fix | None:
    attributes = [node.attr for node in cell.code.find(ast.Attribute)
                  if isinstance(node.value, ast.Name) and node.value.id == name]  # fmt: skip
    line = _IMPORTS.get(name, "")
    is_meant = bool(attributes) or (line.startswith("from") and _is_called(cell, name))
    if name in _STANDARD and attributes:
        module = importlib.import_module(name)
        own = getattr(module, name, module)  # `datetime.now()` is of the class
        has_all = [all(hasattr(place, each) for each in attributes) for place in (module, own)]
        line = f"import {name}" if has_all[0] else f"from {name} import {name}"
        is_meant = any(has_all)
    if not line or not (is_meant or name[:1].isupper()):
        return None
    return Fix(f"`{name}` was not imported.", cell.code.insert_on_top(line))


def _is_called(cell: FailingCell, name: str) -> bool:
    return any(cell.code.is_called(node) for node in _uses(cell.code, name))


def _uses(code: CellCode, name: str) -> Iterator[ast.Name]:
    for node in code.find(ast.Name):
        if node.id == name and isinstance(node.ctx, ast.Load):
            yield node


def _misspelled_name(cell: FailingCell, name: str) -> Fix | None:
    is_called = _is_called(cell, name)
    near = nearest(name, _names_there(cell, is_called=is_called))
    if near is None and is_called:
        near = nearest(name, dir(builtins), 0.85) or nearest(name, _IMPORTS, 0.85)
    if near:
        return _spelled(cell, name, near, f"There is no `{name}`; the nearest name is `{near}`.")
    return Fix(
        f"Nothing is called `{name}` here. Define it, or run the cell that does. Text needs "
        f'quotes: `"{name}"`.'
    )


def _names_there(cell: FailingCell, *, is_called: bool) -> set[str]:
    """Names of the kernel, and those that the cell has defined above."""
    known = {
        variable.name
        for variable in cell.variables
        if not (variable.type == "module" and len(variable.name) <= _SHORT)
        and not (is_called and cell.type_of(variable.name) in _VALUES)
    }
    line = cell.line or len(cell.code.lines)
    own = names_in("\n".join(cell.code.lines[: line - 1]))
    return known | (own.made if own else set())


def _spelled(cell: FailingCell, name: str, instead: str, why: str) -> Fix | None:
    edits = [cell.code.replacement(node, instead) for node in _uses(cell.code, name)]
    if not edits:
        return None
    text = cell.code.apply_edits(*edits)
    line = "" if cell.variable(instead) else _IMPORTS.get(instead)
    return Fix(why, CellCode(text).insert_on_top(line) if line else text)


_PATH = re.compile(
    r"(?:No such file or directory|Is a directory|does not exist)[^'\"]*['\"]([^'\"\n]+)"
)
_TABLES = (".csv", ".tsv", ".xlsx", ".xls", ".json", ".parquet", ".txt", ".feather")
_WRITES = re.compile(r"to_\w+|savefig|save\w*|dump|mkdir|makedirs")


def missing_file(cell: FailingCell) -> Fix | None:
    found = _PATH.search(cell.message)
    is_known = cell.error.name in ("FileNotFoundError", "OSError", "IsADirectoryError")
    if not is_known or not found:
        return None
    path = found[1]
    if any(map(_is_writing, cell.find(ast.Call))):
        return Fix(f"The folder of `{path}` does not exist. Create it first.")
    near = _near(path, cell.files)
    if near is None:
        beside = [file for file in cell.files if file.lower().endswith(_TABLES)][:5]
        some = f" These are here: {listed_names(beside)}." if beside else ""
        return Fix(
            f"There is no file `{path}` in this workspace.{some} Check the name, or upload it."
        )
    for node in cell.find(ast.Constant):
        if node.value == path or (isinstance(node.value, str) and path.endswith(f"/{node.value}")):
            why = f"There is no `{path}`; the file is at `{near}`."
            return cell.replace(why, node, quote_like(near, cell.code.source(node)))
    return Fix(f"There is no `{path}`. Did you mean `{near}`?")


def _is_writing(call: ast.Call) -> bool:
    """A file of a similar name must not be overwritten."""
    modes = [*call.args[1:2], *(each.value for each in call.keywords if each.arg == "mode")]
    is_open = callee_name(call) == "open" and any(
        isinstance(mode, ast.Constant) and re.search("[wax+]", str(mode.value)) for mode in modes
    )
    return is_open or bool(_WRITES.fullmatch(callee_name(call)))


def _near(path: str, files: tuple[str, ...]) -> str | None:
    """The same name elsewhere, the closest first; else a similar name with the same ending."""
    name = basename(path.replace("\\", "/"))
    same = [file for file in files if basename(file).lower() == name.lower()]
    if same:
        return min(same, key=lambda file: (file.count("/"), file))
    ending = "." + name.rpartition(".")[2].lower() if "." in name else ""
    alike = [file for file in files if file.lower().endswith(ending)]
    by_name = {basename(file): file for file in sorted(alike, key=lambda other: -other.count("/"))}
    return by_name.get(nearest(name, by_name, 0.7) or "")


_MISSING = re.compile(
    r"No module named '([\w.]+)'|(?:Missing optional dependency '|`Import )([\w.-]+)['`]"
)


def missing_module(cell: FailingCell) -> Fix | None:
    found = _MISSING.search(cell.message)
    if cell.error.name not in ("ModuleNotFoundError", "ImportError") or not found:
        return None
    name = found[1] or found[2]
    top = name.partition(".")[0]
    if any(basename(file) == f"{top}.py" for file in cell.files):
        return Fix(f"`{top}.py` is in another folder. Add that folder to `sys.path` first.")
    other_names = KNOWN["packages"]["other_name"]
    packages = word_set(KNOWN["packages"]["same_name"]).union(other_names)
    if (top in packages and "." not in name) or found[2]:
        package = other_names.get(top, top)
        called = f" The package is called `{package}`." if package != top else ""
        why = f"`{top}` is not installed in this kernel.{called} The new first line installs it."
        return Fix(why, f"%pip install {package}\n{cell.source}")
    near = "" if top in packages else nearest(top, packages.union(sys.stdlib_module_names), 0.82)
    if near:
        why = f"There is no module `{top}`; it is called `{near}`."
        return Fix(why, re.sub(rf"\b{top}\b", near, cell.source))
    return Fix(
        f"There is no module `{name}` in this kernel, and I know no package that has it. If it is "
        "a file of yours, put it beside the notebook; else look up its name."
    )


_QUOTED = re.compile(r"'([^'\n]{1,200})'|\"([^\"\n]{1,200})\"")
_DTYPE = re.compile(r"dtype='[^']*'|dtype=\w+")
_FOUND_NOT = re.compile(r"Column not found: ([^\n'\"]{1,200})")
_VALUE_CALLS = word_set(KNOWN["values"]["calls"])
_VALUE_ARGUMENTS = word_set(KNOWN["values"]["arguments"])


def missing_column(cell: FailingCell) -> Fix | None:
    """The nearest name of a column or key that is there."""
    if cell.error.name not in ("KeyError", "ColumnNotFoundError") or cell.code.tree is None:
        return None
    names = list(_missing_names(cell.message))
    rules = (_axis, _merge, _renamed_column, _key) if names else ()
    return next((fix for rule in rules if (fix := rule(cell, names))), None)


def _missing_names(message: str) -> Iterator[str]:
    """The names in `'a'`, `"['a', 'b'] not in index"` or `unable to find column "a"; valid …`."""
    if found := _FOUND_NOT.search(message):
        yield found[1]
    # Polars lists the columns that there are behind the one that is missing.
    text = _DTYPE.sub("", message.partition("valid columns")[0].partition("\n")[0])
    text = text.strip('"') if "'" in text else text
    yield from (single or double for single, double in _QUOTED.findall(text))


def _read_strings(code: CellCode, name: str) -> Iterator[ast.Constant]:
    """Literals with which something is looked up."""
    for node in code.find(ast.Constant):
        if node.value == name and _is_looked_up(code, node):
            yield node


def _is_looked_up(code: CellCode, node: ast.AST) -> bool:
    lists = (ast.List, ast.Tuple, ast.Set)
    match next((around for around in code.above(node) if not isinstance(around, lists)), None):
        case ast.Compare() | ast.FormattedValue() | ast.BinOp():
            return False
        case ast.Subscript(ctx=ast.Store()):  # `df["new"] = …` creates a column
            return False
        case ast.Call() as call:
            return callee_name(call) not in _VALUE_CALLS
        case ast.keyword(arg=name):
            return name not in _VALUE_ARGUMENTS
    return True


def _table_of(cell: FailingCell, node: ast.AST) -> str:
    """The table whose column a literal names; empty if it is unknown or something else."""
    for around in cell.code.above(node):
        name = base_name(around) if isinstance(around, (ast.Subscript, ast.Call)) else ""
        if name in cell.tables:
            return name
        if cell.type_of(name) in ("dict", "Series", "list", "ndarray"):
            return ""
    return next(iter(cell.tables)) if len(cell.tables) == 1 else ""


def _renamed_column(cell: FailingCell, names: list[str]) -> Fix | None:
    edits: list[Edit] = []
    reasons: list[str] = []
    unknown: Fix | None = None
    for name in names:
        for node in _read_strings(cell.code, name):
            table = _table_of(cell, node)
            columns = cell.tables.get(table, {})
            if not columns or name in columns:
                continue
            near = nearest(name, columns, parts=True)
            if near is None:
                unknown = Fix(f"`{table}` has no column `{name}`. It has {listed_names(columns)}.")
                continue
            edits.append(cell.code.replacement(node, quote_like(near, cell.code.source(node))))
            reasons.append(f"`{table}` has no column `{name}`; the nearest is `{near}`.")
    return cell.edit(" ".join(dict.fromkeys(reasons)), *edits) if edits else unknown


def _axis(cell: FailingCell, names: list[str]) -> Fix | None:
    """`df.drop("a")` drops rows."""
    for call in cell.calls("drop") if "not found in axis" in cell.message else ():
        columns = cell.tables.get(base_name(call), {})
        is_of_rows = call.args and not any(map(cell.code.keyword, [call] * 2, ("columns", "axis")))
        if is_of_rows and all(name in columns for name in names):
            start = cell.code.span(call.args[0])[0]
            why = "`drop` looks for rows; say `columns=` to drop columns."
            return cell.edit(why, (start, start, "columns="))
    return None


def _merge(cell: FailingCell, names: list[str]) -> Fix | None:
    """Two tables that name their key differently."""
    for call in cell.calls("merge"):
        key = cell.code.keyword(call, "on")
        named = [base_name(node) for node in (call.func, *call.args)]
        tables = [table for table in named if table in cell.tables]
        if key is None or not isinstance(key.value, ast.Constant) or len(tables) != 2:
            continue
        name = str(key.value.value)
        if name not in names:
            return None
        first, second = (name if name in cell.tables[table] else nearest(name, cell.tables[table])
                         for table in tables)  # fmt: skip
        if first and second:
            sides = f'left_on="{first}", right_on="{second}"'
            return Fix(f"`{tables[0]}` and `{tables[1]}` name it differently: use `{sides}`.")
        return Fix(f"Not both tables have a column `{name}`. Use `left_on=` and `right_on=`.")
    return None


def _key(cell: FailingCell, names: list[str]) -> Fix | None:
    """Keys of a dictionary."""
    for node in _read_strings(cell.code, names[0]):
        parent = cell.code.parents.get(node)
        if isinstance(parent, ast.Subscript) and cell.type_of(base_name(parent)) in ("", "dict"):
            whose = cell.code.source(parent.value)
            return Fix(f"`{whose}` has no key `{names[0]}`. `list({whose})` shows its keys.")
    return None


_NO_ATTRIBUTE = re.compile(r"'([\w.]+)'(?: object)? has no attribute '(\w+)'")
_REMOVED = re.compile(r"`np\.(\w+)` was removed in the NumPy 2\.0 release\. Use `np\.(\w+)`")
_OF_PYTHON = ("float", "int", "bool", "object", "str", "complex")  # also of numpy, once
_METHODS = {name: word_set(methods) for name, methods in KNOWN["methods"].items()}
_METHODS["Series"] |= _METHODS["DataFrame"]
_METHODS |= {kind.__name__: frozenset(dir(kind)) for kind in (str, list, dict)}


def missing_attribute(cell: FailingCell) -> Fix | None:
    """Columns, what libraries renamed, methods of values, slips."""
    found, removed = _NO_ATTRIBUTE.search(cell.message), _REMOVED.search(cell.message)
    if cell.error.name != "AttributeError" or not (found or removed):
        return None
    owner, name = (found[1].rpartition(".")[2], found[2]) if found else ("numpy", "")
    name = removed[1] if removed else name
    for node in cell.find(ast.Attribute) if owner != "NoneType" else ():
        if node.attr == name and not _has_it(cell, node, owner):
            return (
                _column(cell, owner, node)
                or _appended(cell, owner, node)
                or _renamed_attribute(cell, owner, node, removed[2] if removed else "")
                or _of_values(cell, owner, node)
                or _misspelled_attribute(cell, owner, node)
            )
    return None


def _has_it(cell: FailingCell, node: ast.Attribute, owner: str) -> bool:
    """Whether the error is about another object than this: `rows.append(…)` of a list."""
    kind = cell.type_of(node.value.id) if isinstance(node.value, ast.Name) else ""
    return kind not in ("", "module", owner) or cell.column(node) is not None


def _column(cell: FailingCell, owner: str, node: ast.Attribute) -> Fix | None:
    """`df.Region` for a column with another name."""
    columns = cell.tables.get(base_name(node), {})
    is_read = isinstance(node.ctx, ast.Load) and not cell.code.is_called(node)
    near = nearest(node.attr, columns, parts=True)
    if not is_read or owner not in ("DataFrame", "DataFrameGroupBy") or near is None:
        return None
    start, end, _ = cell.code.attribute(node, near)
    edit = (start, end, near) if near.isidentifier() else (start - 1, end, f"[{near!r}]")
    why = f"`{base_name(node)}` has no column `{node.attr}`; it is called `{near}`."
    return cell.edit(why, edit)


def _appended(cell: FailingCell, owner: str, node: ast.Attribute) -> Fix | None:
    """`a.append(b)` is `pd.concat([a, b])`."""
    code, call = cell.code, cell.code.parents.get(node)
    if node.attr != "append" or owner not in ("DataFrame", "Series"):
        return None
    if not isinstance(call, ast.Call) or not call.args:
        return None
    pandas, added = cell.pandas, call.args[0]
    text, why = code.source(added), "pandas no longer has `append`; `concat` does the same."
    kind = cell.type_of(text) or ("dict" if isinstance(added, ast.Dict) else "")
    if isinstance(added, ast.Call):
        kind = callee_name(added)
    if kind not in ("DataFrame", "Series", "dict"):
        return Fix(f"{why} It takes a list of tables, and a row as `{pandas}.DataFrame([row])`.")
    more = [code.source(argument) for argument in [*call.args[1:], *call.keywords]]
    if kind in ("dict", "Series") and owner == "DataFrame":  # a row
        text = f"{pandas}.DataFrame([{text}])"
        more += [] if code.keyword(call, "ignore_index") else ["ignore_index=True"]
    new = f"{pandas}.concat({', '.join([f'[{code.source(node.value)}, {text}]', *more])})"
    return cell.replace(why, call, new)


def _renamed_attribute(cell: FailingCell, owner: str, node: ast.Attribute, new: str) -> Fix | None:
    code, name, renamed = cell.code, node.attr, KNOWN["renamed"]
    alike = [other for other in code.find(ast.Attribute) if base_name(other) == base_name(node)]
    if owner == "numpy" and name in _OF_PYTHON:
        edits = [code.replacement(other, other.attr) for other in alike if other.attr in _OF_PYTHON]
        return cell.edit(f"numpy no longer has `{name}`; Python's own works.", *edits)
    new = new or renamed.get(owner, {}).get(name) or renamed["any"].get(name, "")
    edits = [code.attribute(other, new) for other in alike if other.attr == name]
    why = f"`{name}` is called `{new.replace('().', '` and then `')}` here."
    return cell.edit(why, *edits) if new else None


def _of_values(cell: FailingCell, owner: str, node: ast.Attribute) -> Fix | None:
    """`column.upper()` is `column.str.upper()`, and `column.month` is `column.dt.month`."""
    column, name = cell.column(node.value), node.attr
    if owner != "Series" or name not in _METHODS["text"] | _METHODS["dates"]:
        return None
    if name in _METHODS["text"]:
        if column and not column.is_text:
            return Fix(f"`{name}` is for text; `{column.name}` has the type `{column.dtype}`.")
        why = "A column has the methods of its text behind `.str`."
        return cell.edit(why, cell.code.attribute(node, f"str.{name}"))
    why = "A column has the parts of its dates behind `.dt`."
    if column is None or column.is_date:
        return cell.edit(why, cell.code.attribute(node, f"dt.{name}"))
    dates = as_dates(cell, node.value)
    return cell.replace(why, node, f"{dates}.dt.{name}") if dates else not_dates(column)


def _misspelled_attribute(cell: FailingCell, owner: str, node: ast.Attribute) -> Fix:
    if near := nearest(node.attr, _METHODS.get(owner.removesuffix("GroupBy"), ()), 0.7):
        why = f"There is no `{node.attr}`; the nearest is `{near}`."
        return cell.edit(why, cell.code.attribute(node, near))
    return Fix(
        f"`{owner}` has no `{node.attr}`. Type `.` after it and press Tab to see what it has."
    )


_UNEXPECTED = re.compile(
    r"(?:(\w+)\(\) )?got an unexpected keyword argument '(\w+)'"
    r"|(?:Unknown property |has no property '?)(\w+)"
)
_FILLS = {"ffill": "ffill", "pad": "ffill", "bfill": "bfill", "backfill": "bfill"}


def unexpected_argument(cell: FailingCell) -> Fix | None:
    """Arguments that a function does not take, or not any more."""
    found = _UNEXPECTED.search(cell.message)
    name = (found[2] or found[3]) if found else ""
    given = [call for call in cell.find(ast.Call) if name and cell.code.keyword(call, name)]
    named = [call for call in given if found and callee_name(call) == found[1]]
    return _without(cell, (named or given)[0], name) if len(named or given) == 1 else None


def _without(cell: FailingCell, call: ast.Call, name: str) -> Fix | None:
    code, function, keyword = cell.code, callee_name(call), cell.code.keyword(call, name)
    if keyword is None:
        return None
    removed = code.remove_argument(keyword)
    value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
    fill = _FILLS.get(str(value)) if (function, name) == ("fillna", "method") else ""
    if fill and isinstance(call.func, ast.Attribute):
        why = f"There is now a separate method for filling: `{fill}`."
        return cell.edit(why, code.attribute(call.func, fill), removed)
    arguments = KNOWN["arguments"].get(function, "").split()
    new = KNOWN["renamed_arguments"].get(function, {}).get(name) or nearest(name, arguments, 0.7)
    if new and not code.keyword(call, new):
        start = code.span(keyword)[0]
        edit = (start, start + len(name), new)
        return cell.edit(f"`{function}` calls this argument `{new}`, not `{name}`.", edit)
    is_of_columns = name == "axis" and value in (1, "columns")
    if name in KNOWN["dropped_arguments"].get(function, ()) and not is_of_columns:
        why = f"`{function}` has no argument `{name}` any more; it is not needed."
        return cell.edit(why, removed)
    has = f"Run `{function}?` in a cell to see those it has"
    if arguments:
        has = f"It has {listed_names(arguments)}"
    return Fix(f"`{function}` has no argument `{name}`. {has}.")
