"""Review notebooks and Python files by rules, and say what the rules cannot tell."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ....domain.plurals import count_of
from ....domain.replies import Finding, Review
from ....tools.notebook.state import CellState
from .. import texts
from ..actor import explain_notebook
from ..file_names import named_paths, quoted, unquoted
from ..notebook import notebook_intent
from ..reading.tokens import join_words
from ..script import Script
from ..sources import all_files, folder_of, notebook_for, without_dots
from .reviewed_file import SEVERITIES, ReviewedCell, ReviewedFile, ReviewRemark, ReviewRule
from .rules import (
    analysis_remarks,
    error_remarks,
    except_remarks,
    is_too_long,
    path_remarks,
)
from .secrets import secret_remarks
from .state import state_remarks

MAX_FILES = 6
_MAX_PARTS = 8  # of up to 100 cells each
_SUFFIXES = (".ipynb", ".py")
_PATH = re.compile(r"[\w./-]{0,200}\w\.(?:ipynb|py)\b(?!\.?\w)", re.IGNORECASE)


def named_files(script: Script, text: str, files: Sequence[str]) -> list[str]:
    """Those that are there, and those that are not, which reading then says.

    A name needs its ending: `review` alone is a word.
    """
    known = [path for path in files if path.lower().endswith(_SUFFIXES)]
    named = [path for path in named_paths(text, known, folder_of(script))
             if posixpath.basename(path).lower() in text.lower()]  # fmt: skip
    written = [path for path in quoted(text) if path.lower().endswith(_SUFFIXES)]
    written += _PATH.findall(unquoted(text))
    missing = [path.removeprefix("./") for path in written if not any(
               other.lower().endswith(without_dots(path).lower()) for other in known)]  # fmt: skip
    return list(dict.fromkeys([*named, *missing]))[:MAX_FILES]


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
    return ReviewedCell(number, state, fact["failed"])


RULES: tuple[ReviewRule, ...] = (
    secret_remarks, analysis_remarks, error_remarks, state_remarks, except_remarks, path_remarks,
)  # fmt: skip


def remarks_on(reviewed: ReviewedFile) -> list[ReviewRemark]:
    found = (remark for rule in RULES for remark in rule(reviewed))
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
    named = named_files(script, text, files)
    if not (is_asked or named or _ABOUT_CODE.search(text)):
        script.refuse(texts.what_i_can_do())
    paths = named or [notebook_for(script, "", files)]
    return review_of([read_file(script, path) for path in paths]).model_dump_json()


def review_of(files: Sequence[ReviewedFile]) -> Review:
    found = [(remark, reviewed.path) for reviewed in files for remark in remarks_on(reviewed)]
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
        if is_too_long(reviewed):
            yield f"leakage and randomness{name}, because it is very long"
