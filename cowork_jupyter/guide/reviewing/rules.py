"""Rules for code: errors, unused imports, large outputs, absolute paths, unsound analyses."""

from __future__ import annotations

import ast
import posixpath
import re
from bisect import bisect_right
from collections.abc import Iterator

from ...effects.warnings import warnings_for
from ...effects.warnings.case import WatchedRun
from ...tools.text_files import size_text
from .reviewed_file import RAISES, ReviewedCell, ReviewedFile, ReviewRemark, Severity, strings_in

_EVERYTHING = {"Exception", "BaseException"}


def error_remarks(reviewed: ReviewedFile) -> Iterator[ReviewRemark]:
    for cell in reviewed.code_cells:
        if RAISES in cell.state.tags:
            continue
        if cell.failed:
            advice = "Fix it, or tag it `raises-exception` if the error is intended."
            yield ReviewRemark("major", "It ended with an error.", advice, cell)
        elif reviewed.is_python and cell.count is None and cell.python is not None:
            line = _syntax_error(cell.python)
            if line is not None:
                comment = "It is not valid Python."
                yield ReviewRemark("major", comment, "Mend the syntax.", cell, line)


def _syntax_error(code: str) -> int | None:
    try:
        ast.parse(code)
    except SyntaxError as error:
        return error.lineno or 1
    except (ValueError, RecursionError):
        return None
    return None


def except_remarks(reviewed: ReviewedFile) -> Iterator[ReviewRemark]:
    for cell, tree in reviewed.trees():
        for node in ast.walk(tree):
            if not isinstance(node, ast.ExceptHandler) or not _catches_all(node):
                continue
            if all(_does_nothing(statement) for statement in node.body):
                comment = "This catches every error and ignores it silently."
                advice = "Catch only the error you expect, and report it."
                yield ReviewRemark("major", comment, advice, cell, node.lineno)
            elif node.type is None and not any(_raises(statement) for statement in node.body):
                comment = "`except:` also catches a kernel interrupt."
                advice = "Write `except Exception:`."
                yield ReviewRemark("minor", comment, advice, cell, node.lineno)


def _catches_all(handler: ast.ExceptHandler) -> bool:
    kind = handler.type
    return kind is None or (isinstance(kind, ast.Name) and kind.id in _EVERYTHING)


def _does_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.Pass | ast.Continue)


def _raises(statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.Raise) for node in ast.walk(statement))


# packages with side effects on import, such as registering accessors
_BY_BEING_IMPORTED = {
    "__future__", "antigravity", "cufflinks", "cuml", "dask_expr", "hvplot",
    "janitor", "lets_plot", "missingno", "mpl_toolkits", "pandas_bokeh", "pandas_profiling",
    "pandarallel", "pint_pandas", "readline", "rioxarray", "scienceplots",
    "sklearnex", "swifter", "this", "ydata_profiling",
}  # fmt: skip
_NOQA = re.compile(r"#\s*(?:noqa|type:|pylint:|pyflakes:)", re.IGNORECASE)
# a name in a string that may be code: annotations, queries, `eval`
_USED_IN_TEXT = re.compile(r"(?<![\w.])([A-Za-z_]\w*)(?=[.\[(]|$)")


def import_remarks(reviewed: ReviewedFile) -> Iterator[ReviewRemark]:
    if not reviewed.is_python or posixpath.basename(reviewed.path) == "__init__.py":
        return
    used = _used(reviewed)
    for cell, tree in reviewed.trees():
        for statement in _imports(tree):
            if _is_meant(cell, statement):
                continue
            names = [name for alias in statement.names if (name := _bound(alias)) not in used]
            unused = [name for name in names if name and not name.startswith("_")]
            if unused:
                listed = ", ".join(f"`{name}`" for name in unused)
                verb = "is" if len(unused) == 1 else "are"
                comment = f"{listed} {verb} imported and never used."
                yield ReviewRemark("minor", comment, "Remove the import.", cell, statement.lineno)


def _used(reviewed: ReviewedFile) -> set[str]:
    """Names in use; anything that is not Python may refer to any of its words."""
    used: set[str] = set()
    for cell in reviewed.code_cells:
        used |= set(re.findall(r"\w+", cell.opaque))
    for _cell, tree in reviewed.trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
                used.add(node.id)
        for text in strings_in(tree):
            used |= set(_USED_IN_TEXT.findall(str(text.value)))
    return used


def _imports(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    """Skips imports in `try` and `if TYPE_CHECKING`."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif not isinstance(node, ast.Try | ast.If):
            waiting.extend(ast.iter_child_nodes(node))


def _is_meant(cell: ReviewedCell, node: ast.Import | ast.ImportFrom) -> bool:
    """Imported for its side effects, or marked by its author."""
    module = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
    package = (module or "").partition(".")[0]
    if package in _BY_BEING_IMPORTED or "experimental" in (module or ""):
        return True
    last = node.end_lineno or node.lineno
    lines = cell.source.split("\n")[node.lineno - 1 : last]
    return any(_NOQA.search(line) for line in lines)


def _bound(alias: ast.alias) -> str:
    """Empty for `*` and explicit re-exports."""
    if alias.name == "*" or alias.asname == alias.name:
        return ""
    return alias.asname or alias.name.partition(".")[0]


MAX_SIZE = 1024 * 1024  # characters of output per cell


def output_remarks(reviewed: ReviewedFile) -> Iterator[ReviewRemark]:
    for cell in reviewed.code_cells:
        if cell.output_size > MAX_SIZE:
            comment = f"Its output takes {size_text(cell.output_size)} of the notebook."
            advice = "Show less of it, or write it to a file."
            yield ReviewRemark("minor", comment, advice, cell)


_OF_ONE_MACHINE = re.compile(
    r"(?:file://)?/(?:home|Users|root|mnt|media|Volumes|content/drive|kaggle|scratch|nfs)/[^\s/]"
    r"|[A-Za-z]:[\\/]{1,2}[^\W\d][\w .-]"
    r"|\\\\[\w.-]+\\\w"
)
_EVERYWHERE = ("/dev/", "/proc/", "/sys/", "/etc/", "/tmp/", "/usr/", "/bin/", "/var/", "/opt/")  # noqa: S108
_OPENS = re.compile(
    r"^(?:read_\w+|to_\w+|scan_\w+|open|Path|savefig|load\w*|save\w*|chdir|listdir)$"
)
_IN_MAGIC = re.compile(r"(?<![\w.:/])(?:/(?:home|Users|root|mnt|media|Volumes)/\w|[A-Za-z]:\\\w)")
_MAX_SHOWN = 60


def path_remarks(reviewed: ReviewedFile) -> Iterator[ReviewRemark]:
    for cell, tree in reviewed.trees():
        opened = {id(node) for node in _opened(tree)}
        for text in strings_in(tree):
            value = str(text.value)
            rooted = id(text) in opened and value.startswith("/") and len(value) > 1
            if _OF_ONE_MACHINE.match(value) or (rooted and not f"{value}/".startswith(_EVERYWHERE)):
                excerpt = value if len(value) <= _MAX_SHOWN else f"{value[:_MAX_SHOWN]}…"
                yield ReviewRemark("minor", f"`{excerpt}` is an absolute path, which exists on one "
                             "machine only.", _RELATIVE, cell, text.lineno)  # fmt: skip
    for cell in reviewed.code_cells:
        for number, line in enumerate(cell.source.split("\n"), 1):
            if line.lstrip().startswith(("%", "!")) and _IN_MAGIC.search(line):
                comment = "This command names an absolute path, which exists on one machine only."
                yield ReviewRemark("minor", comment, _RELATIVE, cell, number)


_RELATIVE = "Use a path relative to the notebook or the project."


def _opened(tree: ast.Module) -> Iterator[ast.expr]:
    """First arguments of functions that read or write files."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else ""
        name = function.id if isinstance(function, ast.Name) else name
        if _OPENS.match(name):
            yield node.args[0]


MAX_LENGTH = 200_000  # characters of code; more would take too long
# warnings that are valid without the data
_SEVERITIES: dict[str, Severity] = {
    "fit_before_split": "critical", "fit_on_test": "critical",
    "target_among_features": "critical", "tuned_on_test": "critical",
    "score_on_training_rows": "critical", "no_seed": "major", "copy_changed": "major",
    "result_thrown_away": "major", "dates_ambiguous": "major", "column_lost_time_zone": "major",
}  # fmt: skip


def analysis_remarks(reviewed: ReviewedFile) -> Iterator[ReviewRemark]:
    if not reviewed.is_python or is_too_long(reviewed):
        return
    starts: list[int] = []
    cells: list[ReviewedCell] = []
    lines: list[str] = []
    for cell, tree in reviewed.trees():
        starts.append(len(lines) + 1)
        cells.append(cell)
        lines += _lines_of(cell, tree)
    for _of, found in warnings_for(WatchedRun(code="\n".join(lines))):
        severity = _SEVERITIES.get(found.code)
        if severity is None or found.line is None:
            continue
        at = bisect_right(starts, found.line) - 1
        line = found.line - starts[at] + 1
        yield ReviewRemark(severity, found.message, found.advice, cells[at], line)


def is_too_long(reviewed: ReviewedFile) -> bool:
    return sum(len(cell.source) for cell in reviewed.code_cells) > MAX_LENGTH


def _lines_of(cell: ReviewedCell, tree: ast.Module) -> list[str]:
    """Wrap a final expression in `display`, because all cells are parsed as one program."""
    lines = (cell.python or "").split("\n")
    last = tree.body[-1] if tree.body and cell.number else None
    if isinstance(last, ast.Expr):
        value = last.value
        end, after = value.end_lineno or value.lineno, value.end_col_offset or 0
        lines[end - 1] = _with(lines[end - 1], after, ")")
        lines[value.lineno - 1] = _with(lines[value.lineno - 1], value.col_offset, "display(")
    return lines


def _with(line: str, column: int, text: str) -> str:
    """AST columns count bytes."""
    written = line.encode()
    return (written[:column] + text.encode() + written[column:]).decode()
