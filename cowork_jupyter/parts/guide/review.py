"""Reviews notebooks and Python files by rules, and says what the rules cannot tell."""

from __future__ import annotations

import ast
import posixpath
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, TypeVar

from ...domain.plurals import count_of
from ...domain.redaction import KEY_PATTERNS, is_real_key
from ...domain.replies import Finding, Review
from ...domain.user_code import as_python, is_request, parse_code
from ...effects.data_linter import WatchedRun
from ...tools.notebook.dependencies import CellTimes, HiddenFindings, hidden_state, outdated_cells
from ...tools.notebook.state import CellState
from ..warnings.linter import RuleLinter
from . import texts
from .agent import explain_notebook
from .file_names import missing_paths, named_paths
from .notebook import notebook_intent
from .reading.tokens import join_words
from .script import Script, whole_notebook
from .sources import all_files, folder_of, notebook_for

N = TypeVar("N", bound=ast.AST)
Severity = Literal["critical", "major", "minor"]
SEVERITIES: tuple[Severity, ...] = ("critical", "major", "minor")
_RAISES = "raises-exception"  # tag of cells that are expected to fail
_MAGIC_LINE = re.compile(r"^[^\S\n]*(?:[\w., ]{1,200}=\s*)?[%!].*$", re.MULTILINE)


@dataclass(frozen=True)
class ReviewedCell:
    number: int  # from 1; 0 for a file
    state: CellState
    failed: bool = False

    @property
    def source(self) -> str:
        return self.state.source

    @property
    def is_code(self) -> bool:
        """Cells that are requests to an agent are not code."""
        is_code = self.state.cell_type == "code" and bool(self.source.strip())
        return is_code and not is_request(self.source)

    @property
    def count(self) -> int | None:
        return self.state.execution_count

    @cached_property
    def python(self) -> str | None:
        return as_python(self.source)

    @cached_property
    def tree(self) -> ast.Module | None:
        return parse_code(self.source)

    @cached_property
    def opaque(self) -> str:
        """Text that is not Python and may use or define any name."""
        if self.tree is None:
            return self.source
        return "\n".join(_MAGIC_LINE.findall(self.source))


@dataclass(frozen=True)
class ReviewedFile:
    path: str
    cells: Sequence[ReviewedCell]
    language: str = "python"
    total: int = 0  # cells or lines in the file; more than were read if it is long

    @property
    def is_notebook(self) -> bool:
        return any(cell.number for cell in self.cells) or self.path.lower().endswith(".ipynb")

    @cached_property
    def code_cells(self) -> list[ReviewedCell]:
        return [cell for cell in self.cells if cell.is_code]

    @property
    def is_python(self) -> bool:
        return self.language in ("", "python", "ipython", "python3")

    def trees(self) -> Iterator[tuple[ReviewedCell, ast.Module]]:
        return ((cell, cell.tree) for cell in self.code_cells if cell.tree is not None)

    def nodes(self, kind: type[N]) -> Iterator[tuple[ReviewedCell, N]]:
        for cell, tree in self.trees():
            yield from ((cell, node) for node in ast.walk(tree) if isinstance(node, kind))


@dataclass(frozen=True)
class ReviewRemark:
    severity: Severity
    comment: str  # the evidence
    advice: str
    cell: ReviewedCell
    line: int | None = None

    def finding(self, path: str) -> Finding:
        in_cell = self.cell.number > 0
        at = f", line {self.line}" if self.line else ""
        place = f"Cell {self.cell.number} (`{self.cell.state.id}`){at}: " if in_cell else ""
        return Finding(
            file=path,
            line=None if in_cell else self.line,
            severity=self.severity,
            comment=f"{place}{self.comment}",
            suggestion=self.advice,
        )

    @property
    def order(self) -> tuple[int, int, int]:
        return SEVERITIES.index(self.severity), self.cell.number, self.line or 0


ReviewRule = Callable[[ReviewedFile], Iterator[ReviewRemark]]


_EVERYTHING = {"Exception", "BaseException"}


def error_remarks(reviewed: ReviewedFile) -> Iterator[ReviewRemark]:
    for cell in reviewed.code_cells:
        if cell.failed and _RAISES not in cell.state.tags:
            advice = "Fix it, or tag it `raises-exception` if the error is intended."
            yield ReviewRemark("major", "It ended with an error.", advice, cell)
        elif reviewed.is_python and cell.count is None and cell.python and cell.tree is None:
            yield ReviewRemark("major", "It is not valid Python.", "Fix the syntax error.", cell)


def except_remarks(reviewed: ReviewedFile) -> Iterator[ReviewRemark]:
    for cell, handler in reviewed.nodes(ast.ExceptHandler):
        if _catches_all(handler) and _is_silent(handler):
            comment = "This catches every error and ignores it silently."
            advice = "Catch only the error you expect, and report it."
            yield ReviewRemark("major", comment, advice, cell, handler.lineno)


def _catches_all(handler: ast.ExceptHandler) -> bool:
    kind = handler.type
    return kind is None or (isinstance(kind, ast.Name) and kind.id in _EVERYTHING)


def _is_silent(handler: ast.ExceptHandler) -> bool:
    values = [body.value if isinstance(body, ast.Expr) else body for body in handler.body]
    return all(isinstance(value, ast.Pass | ast.Continue | ast.Constant) for value in values)


_OF_ONE_MACHINE = re.compile(
    r"(?:file://)?/(?:home|Users|root|mnt|media|Volumes|content/drive|kaggle|scratch|nfs)/[^\s/]"
    r"|[A-Za-z]:[\\/]{1,2}[^\W\d][\w .-]"
    r"|\\\\[\w.-]+\\\w"
)
_MAX_EXCERPT = 60


def path_remarks(reviewed: ReviewedFile) -> Iterator[ReviewRemark]:
    for cell, node in reviewed.nodes(ast.Constant):
        if isinstance(value := node.value, str) and _OF_ONE_MACHINE.match(value):
            excerpt = value if len(value) <= _MAX_EXCERPT else f"{value[:_MAX_EXCERPT]}…"
            comment = f"`{excerpt}` is an absolute path, which exists on one machine only."
            advice = "Use a path relative to the notebook or the project."
            yield ReviewRemark("minor", comment, advice, cell, node.lineno)


MAX_LENGTH = 200_000  # characters of code; more would take too long
# warnings that are valid without the data
_SEVERITIES: dict[str, Severity] = {
    "fit_before_split": "critical", "fit_on_test": "critical",
    "target_among_features": "critical", "tuned_on_test": "critical",
    "score_on_training_rows": "critical", "no_seed": "major", "copy_changed": "major",
    "result_thrown_away": "major", "dates_ambiguous": "major", "column_lost_time_zone": "major",
}  # fmt: skip


def analysis_remarks(reviewed: ReviewedFile) -> Iterator[ReviewRemark]:
    if not reviewed.is_python or _is_too_long(reviewed):
        return
    starts: list[int] = []
    cells: list[ReviewedCell] = []
    lines: list[str] = []
    for cell, tree in reviewed.trees():
        starts.append(len(lines) + 1)
        cells.append(cell)
        lines += _lines_of(cell, tree)
    for _of, found in RuleLinter().warnings(WatchedRun(code="\n".join(lines))):
        severity = _SEVERITIES.get(found.code)
        if severity is None or found.line is None:
            continue
        at = bisect_right(starts, found.line) - 1
        line = found.line - starts[at] + 1
        yield ReviewRemark(severity, found.message, found.advice, cells[at], line)


def _is_too_long(reviewed: ReviewedFile) -> bool:
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


_KEYS = re.compile(
    "|".join((
        *KEY_PATTERNS,
        r"-----BEGIN (?:\w+ )*PRIVATE KEY-----",
        r"\bAIza[\w-]{35}\b",
        r"\bglpat-[\w-]{20,}",
        r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}",
        r"://[^\s/:@'\"{}]+:[^\s/@'\"{}]{3,}@\w",
    ))
)  # fmt: skip
_NAMES = re.compile(
    r"(?:^|_)(?:password|passwd|passphrase|pwd|secret|token|api_?key|access_?key|private_?key|"
    r"auth_?key|client_?secret)(?:_?(?:id|value|key|access_key))?$",
    re.IGNORECASE,
)
_NO_SECRET = re.compile(
    r"your|example|placeholder|change.?me|dummy|fake|redacted|insert|replace|todo|none|null|"
    r"\.\.\.|…|<|>|\{|\}|\*\*|••|xxx|\s|^test|^env:|^file:|/",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"(\w+)(?:['\"]\]?)?(?:\s*:\s*\w+)?\s*[=:]\s*['\"]([^'\"]+)['\"]"
    r"|^\s*%(?:set_)?env\s+(\w+)[= ]\s*(\S+)"
)
_ADVICE = (
    "Remove it, read it from the environment or ask with `getpass`, and revoke it: everyone who "
    "has had the file knows it."
)


def secret_remarks(reviewed: ReviewedFile) -> Iterator[ReviewRemark]:
    for cell in reviewed.cells:
        for number, line in enumerate(cell.source.split("\n"), 1):
            if what := _by_look(line) or (_by_name(line) if cell.is_code else ""):
                comment = f"{what} is in plain text here."
                yield ReviewRemark("critical", comment, _ADVICE, cell, number)


def _by_look(line: str) -> str:
    for found in _KEYS.finditer(line):
        if not _is_made_up(found[0]):
            return "A password in an address" if "://" in found[0] else "A key"
    return ""


def _is_made_up(found: str) -> bool:
    """Placeholders and examples."""
    if "://" in found:
        password = found.rpartition("@")[0].rpartition(":")[2]
        return bool(_NO_SECRET.search(password)) or password.lower() in ("password", "pass", "pw")
    plain = found.rpartition("-")[2] if found.startswith("sk-") else found
    few = len(set(plain)) <= 4
    return few or bool(re.search(r"your|example|xxx|\.\.\.|•••", found, re.IGNORECASE))


def _by_name(line: str) -> str:
    """`password = "…"`, `connect(token="…")`, also in comments."""
    for name, value, magic, magic_value in _NAMED.findall(line):
        if _NAMES.search(name or magic) and _is_secret(value or magic_value):
            return f"The value of `{name or magic}`"
    return ""


def _is_secret(value: str) -> bool:
    return is_real_key(value) and not _NO_SECRET.search(value) and len(set(value)) > 4


_RUN_ALL = "Restart the kernel and run all cells."
_MAKES_ANY_NAME = re.compile(
    r"^[^\S\n]*%{1,2}(?:run|pylab|store|load|rerun|recall)\b|\b(?:exec|globals|locals)\(", re.M
)


def state_remarks(reviewed: ReviewedFile) -> Iterator[ReviewRemark]:
    if not reviewed.is_notebook:
        return
    stale = list(_stale(reviewed))
    about = {remark.cell.state.id for remark in stale}
    yield from (*stale, *_not_run(reviewed), *_hidden(reviewed, about))


def _stale(reviewed: ReviewedFile) -> Iterator[ReviewRemark]:
    times = [
        CellTimes(cell.state.id, cell.source, cell.count, cell.count)
        for cell in reviewed.code_cells
    ]
    for cell, cause, name in _dependents(reviewed, times):
        yield ReviewRemark(
            "major",
            f"Its result is stale: it uses `{name}` and ran as [{cell.count}], before cell "
            f"{cause.number}, which it depends on, ran as [{cause.count}].",
            f"Run it again. {_RUN_ALL}",
            cell,
        )


def _not_run(reviewed: ReviewedFile) -> Iterator[ReviewRemark]:
    """Treat unrun cells as if they ran last."""
    last = max((cell.count or 0 for cell in reviewed.code_cells), default=0)
    times = [
        CellTimes(cell.state.id, cell.source, cell.count, None if cell.count else last + 1)
        for cell in reviewed.code_cells
    ]
    reported: set[int] = set()
    for cell, cause, name in _dependents(reviewed, times):
        if cause.number not in reported:
            reported.add(cause.number)
            comment = f"It has not run, but cell {cell.number}, which uses its `{name}`, has."
            yield ReviewRemark("major", comment, _RUN_ALL, cause)


def _dependents(
    reviewed: ReviewedFile, times: Sequence[CellTimes]
) -> Iterator[tuple[ReviewedCell, ReviewedCell, str]]:
    """Cells that ran before a cell above them on which they depend, that cell, and the name.

    Names defined only below are reported separately.
    """
    by_id = {cell.state.id: cell for cell in reviewed.code_cells}
    for found in outdated_cells(times):
        cell, cause = by_id[found.cell_id], by_id[found.changed_id]
        if cause.number < cell.number:
            yield cell, cause, found.name


def _hidden(reviewed: ReviewedFile, stale: set[str]) -> Iterator[ReviewRemark]:
    by_id = {cell.state.id: cell for cell in reviewed.cells}
    opaque = "\n".join(cell.opaque for cell in reviewed.code_cells)
    known = set(re.findall(r"\w+", opaque))
    makes_any = any(_MAKES_ANY_NAME.search(cell.source) for cell in reviewed.code_cells)
    readable = reviewed.is_python and not makes_any
    for found in hidden_state([cell.state for cell in reviewed.cells]):
        cell = by_id[found.cell_id]
        if found.kind == "out_of_order":
            if found.cell_id not in stale:
                yield ReviewRemark("minor", found.message, _RUN_ALL, cell)
        elif readable and found.name not in known:
            yield _missing(cell, found)


def _missing(cell: ReviewedCell, found: HiddenFindings) -> ReviewRemark:
    name = f"`{found.name}`"
    lines = cell.source.splitlines()
    word = re.compile(rf"\b{re.escape(found.name)}\b")
    line = next((number for number, text in enumerate(lines, 1) if word.search(text)), None)
    advice = f"Define {name} in a cell above, or remove it."
    if found.kind == "defined_later":
        comment = f"It uses {name}, which only a cell below it defines."
    elif cell.count is not None and not cell.failed:
        why = "and yet it ran: a cell that is gone, or was changed, has defined it"
        comment = f"It uses {name}, which no cell defines, {why}."
    else:
        comment = f"It uses {name}, which no cell defines, so it cannot run."
    return ReviewRemark("major", comment, advice, cell, line)


_MAX_FILES = 6
_SUFFIXES = (".ipynb", ".py")


def _named_files(script: Script, text: str, files: Sequence[str]) -> list[str]:
    """Those that are there, and those that are not, which reading then says.

    A name needs its ending: `review` alone is a word.
    """
    known = [path for path in files if path.lower().endswith(_SUFFIXES)]
    named = [path for path in named_paths(text, known, folder_of(script))
             if posixpath.basename(path).lower() in text.lower()]  # fmt: skip
    missing = [path.removeprefix("./") for path in missing_paths(text, known, _SUFFIXES)]
    return list(dict.fromkeys([*named, *missing]))[:_MAX_FILES]


def read_file(script: Script, path: str) -> ReviewedFile:
    if path.lower().endswith(".ipynb"):
        return _notebook(script, path)
    read = script.read("read_file", path)
    last = int(read.facts.get("last_line", 0))
    source = "\n".join(read.text.split("\n")[:last])  # behind it the tool may say how to read on
    cell = ReviewedCell(0, CellState(path, "code", source))
    return ReviewedFile(path, [cell], total=int(read.facts.get("total_lines", last)))


def _notebook(script: Script, path: str) -> ReviewedFile:
    facts = whole_notebook(partial(script.read, "read_notebook", path))
    cells = [_cell(number, cell) for number, cell in enumerate(facts["cells"], 1)]
    return ReviewedFile(path, cells, str(facts["language"]), int(facts["total_cells"]))


def _cell(number: int, fact: Mapping[str, Any]) -> ReviewedCell:
    known = {key: fact[key] for key in ("id", "cell_type", "source", "execution_count")}
    state = CellState(**known, tags=tuple(fact["tags"]))
    return ReviewedCell(number, state, fact["failed"])


_RULES: tuple[ReviewRule, ...] = (
    secret_remarks, analysis_remarks, error_remarks, state_remarks, except_remarks, path_remarks,
)  # fmt: skip


def _remarks_on(reviewed: ReviewedFile) -> list[ReviewRemark]:
    found = (remark for rule in _RULES for remark in rule(reviewed))
    return sorted(found, key=lambda remark: remark.order)


MAX_FINDINGS = 60
_REVIEWS = re.compile(
    r"\b(?:review\w*|check\w*|audit\w*|inspect\w*|lint\w*|problems?|mistakes?|wrong|issues?|bugs?|"
    r"leak\w*|stale|secrets?|reproduc\w*|feedback)\b",
    re.IGNORECASE,
)
# vague requests for a review, such as “Have a look at this.”
_ABOUT_CODE = re.compile(
    r"\b(?:notebooks?|cells?|code|scripts?|look|think|correct|improve|this)\b",
    re.IGNORECASE,
)
_RULES_ONLY = (
    "I am the built-in guide: I follow rules, without a language model, and have no judgement "
    "beyond them."
)
_NEVER_SEEN = (
    "whether the analysis answers its question, whether its method and its numbers are right, "
    "the data itself, what the outputs show, and what the text says"
)


def review(script: Script) -> str:
    text = script.run.request
    is_asked = bool(_REVIEWS.search(text)) or script.run.is_step
    if not is_asked:
        if texts.is_talk(text):
            return texts.what_i_can_do()
        if notebook_intent(text) == "explain":
            return explain_notebook(script, text)
    files = all_files(script)
    named = _named_files(script, text, files)
    if not (is_asked or named or _ABOUT_CODE.search(text)):
        script.refuse(texts.what_i_can_do())
    paths = named or [notebook_for(script, "", files)]
    return review_of([read_file(script, path) for path in paths]).model_dump_json()


def review_of(files: Sequence[ReviewedFile]) -> Review:
    found = [(remark, reviewed.path) for reviewed in files for remark in _remarks_on(reviewed)]
    found.sort(key=lambda each: SEVERITIES.index(each[0].severity))
    findings = [remark.finding(path) for remark, path in found]
    serious = any(remark.severity != "minor" for remark, _path in found)
    sizes = [f" ({count_of(len(reviewed.cells), 'cell')})" if reviewed.is_notebook else ""
             for reviewed in files]  # fmt: skip
    names = join_words([f"`{each.path}`{size}" for each, size in zip(files, sizes, strict=True)])
    counts = _remark_counts([remark for remark, _path in found])
    left_out = join_words([*_left_out(files), _NEVER_SEEN])
    more = len(findings) - MAX_FINDINGS
    rest = Finding(severity="minor", comment=f"And {more} more, none of them more serious.")
    return Review(
        summary=f"I checked {names} by rules. {counts} {_RULES_ONLY} I did not look at {left_out}.",
        verdict="request_changes" if serious else "approve",
        findings=[*findings[:MAX_FINDINGS], rest] if more > 0 else findings,
    )


def _remark_counts(remarks: Sequence[ReviewRemark]) -> str:
    if not remarks:
        return "None of them found anything."
    counts = Counter(remark.severity for remark in remarks)
    found = [f"{counts[severity]} {severity}" for severity in SEVERITIES if counts[severity]]
    return f"They found {join_words(found)}."


def _left_out(files: Sequence[ReviewedFile]) -> Iterator[str]:
    for reviewed in files:
        name = f" of `{reviewed.path}`" if len(files) > 1 else ""
        lines = sum(len(cell.source.split("\n")) for cell in reviewed.cells)
        kind, read = ("cells", len(reviewed.cells)) if reviewed.is_notebook else ("lines", lines)
        if read < reviewed.total:
            yield f"the {kind} after {read:,}{name}"
        if not reviewed.is_python:
            yield f"the code{name}, which is not Python, beyond secrets and errors"
            continue
        foreign = [str(cell.number) for cell in reviewed.code_cells if cell.tree is None]
        if foreign:
            cells = f" of cells {join_words(foreign)}" if reviewed.is_notebook else ""
            yield f"the code{cells}{name}, which I cannot read as Python"
        if _is_too_long(reviewed):
            yield f"leakage and randomness{name}, because it is very long"
