"""Review notebooks and Python files by rules, and say what the rules cannot tell."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...domain.plurals import count_of
from ...domain.replies import Finding, Review
from ...tools.notebook.state import CellState
from .. import texts
from ..actor import explain_notebook
from ..file_names import is_table, named_paths, quoted, unquoted
from ..notebook import notebook_intent
from ..script import Script
from ..smalltalk import small_talk
from ..sources import all_files, folder_of, notebook_for, without_dots
from ..understanding.tokens import join_words
from .reviewed_file import SEVERITIES, ReviewedCell, ReviewedFile, ReviewRemark, ReviewRule
from .rules import (
    analysis_remarks,
    error_remarks,
    except_remarks,
    import_remarks,
    is_too_long,
    output_remarks,
    path_remarks,
)
from .secrets import secret_remarks
from .state import state_remarks

MAX_FILES = 6
_MAX_PARTS = 8  # of up to 100 cells each
_SUFFIXES = (".ipynb", ".py")
_PATH = re.compile(r"[\w./-]{0,200}\w\.(?:ipynb|py)\b(?!\.?\w)", re.IGNORECASE)


def named_files(script: Script, text: str, files: Sequence[str]) -> list[str]:
    known = [path for path in files if path.lower().endswith(_SUFFIXES)]
    named = [path for path in named_paths(text, known, folder_of(script)) if _is_whole(path, text)]
    written = [path for path in quoted(text) if path.lower().endswith(_SUFFIXES)]
    written += _PATH.findall(unquoted(text))
    missing = [
        code_path.removeprefix("./") for code_path in written
        if not any(path.lower().endswith(without_dots(code_path).lower()) for path in known)
    ]  # fmt: skip
    return list(dict.fromkeys([*named, *missing]))[:MAX_FILES]


def _is_whole(path: str, text: str) -> bool:
    """The suffix is required: `review` alone is a word."""
    return posixpath.basename(path).lower() in text.lower()


def read_file(script: Script, path: str) -> ReviewedFile:
    if path.lower().endswith(".ipynb"):
        return _notebook(script, path)
    read = script.read("read_file", path)
    last = int(read.facts.get("last_line", 0))
    source = "\n".join(read.text.split("\n")[:last])  # behind it the tool may say how to read on
    cell = ReviewedCell(0, CellState(path, "code", source))
    return ReviewedFile(path, [cell], total=int(read.facts.get("total_lines", last)))


def _notebook(script: Script, path: str) -> ReviewedFile:
    cells: list[ReviewedCell] = []
    facts: Mapping[str, Any] = {}
    for _part in range(_MAX_PARTS):
        part = {"offset": len(cells)} if cells else {}
        facts = script.read("read_notebook", path, **part).facts
        cells += [_cell(number, cell) for number, cell in enumerate(facts["cells"], len(cells) + 1)]
        if not facts["cells"] or len(cells) >= facts["total_cells"]:
            break
    return ReviewedFile(path, cells, str(facts["language"]), int(facts["total_cells"]))


def _cell(number: int, fact: Mapping[str, Any]) -> ReviewedCell:
    known = {key: fact[key] for key in ("id", "cell_type", "source", "execution_count")}
    state = CellState(**known, tags=tuple(fact["tags"]))
    return ReviewedCell(number, state, fact["failed"], fact["output_size"])


RULES: tuple[ReviewRule, ...] = (
    secret_remarks, analysis_remarks, error_remarks, state_remarks, except_remarks, path_remarks,
    output_remarks, import_remarks,
)  # fmt: skip


def remarks_on(reviewed: ReviewedFile) -> list[ReviewRemark]:
    found = (remark for rule in RULES for remark in rule(reviewed))
    return sorted(found, key=lambda remark: remark.order)


MAX_FINDINGS = 60
_REVIEWS = re.compile(
    r"\b(?:review\w*|check\w*|audit\w*|inspect\w*|lint\w*|problems?|mistakes?|wrong|issues?|bugs?|"
    r"leak\w*|stale|secrets?|reproduc\w*|feedback|prüf\w*|begutacht\w*|fehler)\b",
    re.IGNORECASE,
)
# vague requests for a review, such as “Have a look at this.”
_ABOUT_CODE = re.compile(
    r"\b(?:notebooks?|cells?|code|scripts?|look|think|correct|improve|this|zellen?|schau\w*)\b",
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
        talk = small_talk(script, text)
        if talk:
            return talk
        if notebook_intent(text) == "explain":
            return explain_notebook(script, text)
    files = all_files(script)
    named = named_files(script, text, files)
    if not (is_asked or named):
        _refuse_others(script, text, files)
    # Without an ending nothing is named: “review” does not mean `review.ipynb`.
    paths = named or [notebook_for(script, "", files)]
    return review_of([read_file(script, path) for path in paths]).model_dump_json()


def _refuse_others(script: Script, text: str, files: Sequence[str]) -> None:
    if named_paths(text, [path for path in files if is_table(path)]):
        script.fail(
            "As reviewer I look at notebooks and Python files. To ask about tables, switch to "
            "Planner."
        )
    if not _ABOUT_CODE.search(text):
        script.fail(texts.what_i_can_do(is_step=False))


def review_of(files: Sequence[ReviewedFile]) -> Review:
    found = [(remark, reviewed.path) for reviewed in files for remark in remarks_on(reviewed)]
    found.sort(key=lambda each: SEVERITIES.index(each[0].severity))
    findings = [remark.finding(path) for remark, path in found]
    serious = any(remark.severity != "minor" for remark, _path in found)
    parts = [
        _summary(files),
        _remark_counts([remark for remark, _path in found]),
        _RULES_ONLY,
    ]
    parts.append(f"I did not look at {join_words([*_left_out(files), _NEVER_SEEN])}.")
    return Review(
        summary=" ".join(parts),
        verdict="request_changes" if serious else "approve",
        findings=_shortened(findings),
    )


def _shortened(findings: list[Finding]) -> list[Finding]:
    more = len(findings) - MAX_FINDINGS
    if more <= 0:
        return findings
    rest = Finding(severity="minor", comment=f"And {more} more, none of them more serious.")
    return [*findings[:MAX_FINDINGS], rest]


def _summary(files: Sequence[ReviewedFile]) -> str:
    names = [
        f"`{reviewed.path}` ({count_of(len(reviewed.cells), 'cell')})"
        if reviewed.is_notebook
        else f"`{reviewed.path}`"
        for reviewed in files
    ]
    return f"I checked {join_words(names)} by rules."


def _remark_counts(remarks: Sequence[ReviewRemark]) -> str:
    if not remarks:
        return "None of them found anything."
    counts = Counter(remark.severity for remark in remarks)
    found = [f"{counts[severity]} {severity}" for severity in SEVERITIES if counts[severity]]
    return f"They found {join_words(found)}."


def _left_out(files: Sequence[ReviewedFile]) -> Iterator[str]:
    for reviewed in files:
        name = f" of `{reviewed.path}`" if len(files) > 1 else ""
        read = len(reviewed.cells) if reviewed.is_notebook else _lines(reviewed)
        if read < reviewed.total:
            kind = "cells" if reviewed.is_notebook else "lines"
            yield f"the {kind} after {read:,}{name}"
        if not reviewed.is_python:
            yield f"the code{name}, which is not Python, beyond secrets, errors and outputs"
            continue
        foreign = [str(cell.number) for cell in reviewed.code_cells if cell.tree is None]
        if foreign and reviewed.is_notebook:
            cells = "cell" if len(foreign) == 1 else "cells"
            yield f"the code of {cells} {join_words(foreign)}{name}, which I cannot read as Python"
        elif foreign:
            yield f"the code{name}, which I cannot read as Python"
        if is_too_long(reviewed):
            yield f"leakage and randomness{name}, because it is very long"


def _lines(reviewed: ReviewedFile) -> int:
    return sum(len(cell.source.split("\n")) for cell in reviewed.cells)
