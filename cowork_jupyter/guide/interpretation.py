"""From the user's words to requests; ask where they are ambiguous and memory does not tell."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..domain.memory import GAPS_DROPPED, GAPS_FILLED, GAPS_KEPT, notes_in
from ..llm import relevance
from . import texts
from .file_names import is_table
from .notebook import cells_in
from .request import Gaps, Request, output_table
from .script import Script
from .sources import all_files, complete_values, tables_for
from .tables import Table
from .understanding import Understanding, sentence, understand
from .understanding.language import language_of
from .understanding.names import yes_and_no

_GAPS: dict[str, Gaps] = {GAPS_DROPPED: "drop", GAPS_FILLED: "fill", GAPS_KEPT: "keep"}


def remembered_answer(script: Script, text: str, offered: Collection[str]) -> str | None:
    """The option that the user chose for a similar request."""
    found = []
    for note in notes_in(script.conversation.memory):
        named = [option for option in offered if f"`{option}`" in note.says]
        if note.section == "Answers" and len(named) == 1:
            found.append((_likeness(note.about, text), named[0]))
    best = max(found, default=(0.0, ""))
    return best[1] if best[0] >= 1 / 2 else None


def remembered_gaps(script: Script, path: str) -> Gaps | None:
    for note in notes_in(script.conversation.memory):
        if note.section == "Cleaning" and note.about == f"`{path}`":
            done = note.says.split(", ")
            return next((gaps for said, gaps in _GAPS.items() if _is_said(said, done)), None)
    return None


def _is_said(wanted: str, parts: Iterable[str]) -> bool:
    return any(part == wanted or part.startswith(f"{wanted} with ") for part in parts)


def _likeness(text: str, other: str) -> float:
    """Jaccard similarity of the words."""
    ours, theirs = relevance.words(text) - {"for"}, relevance.words(other)
    return len(ours & theirs) / max(1, len(ours | theirs))


NEITHER = "neither"
_ONE_FILE = re.compile(r"[^/~*?\[][^*?\[]*")  # within the workspace
_MAX_OFFERED = 8
_MAX_LENGTH = 20_000
_MAX_QUESTIONS = 3


@dataclass(frozen=True)
class Interpretation:
    requests: tuple[Request, ...]
    alternatives: tuple[Request, ...] = ()  # what else it may mean
    notes: tuple[str, ...] = ()  # assumptions and ignored parts, as sentences
    tables: tuple[Table, ...] = field(default=(), repr=False)


def interpret(script: Script, text: str) -> Interpretation:
    text, *more = re.split(r"\n\s*\n", text[:_MAX_LENGTH].strip(), maxsplit=1)
    files = all_files(script)
    tables = tables_for(script, text, files)
    language = language_of(text)
    found = understand(text, tables, language=language, files=files)
    if _needs_values(found):
        tables = [_complete_values(script, table) for table in _likely(found, tables)]
        found = understand(text, tables, language=language, files=files, is_whole=True)
    for _question in range(_MAX_QUESTIONS):
        if not found.requests:
            found = _ask_meaning(script, text, tables, found)
    if not found.requests:
        script.fail(texts.not_understood(found.unclear, is_step=script.run.is_step))
    requests = _use_outputs(found.requests, files, _named_output(script, found.requests))
    read = ["I read only the first paragraph of the request."] if more else []
    notes = [*([found.unclear] if found.unclear else []), *read, *_untidy(requests)]
    return Interpretation(tuple(requests), found.alternatives, tuple(notes), tuple(tables))


def _needs_values(found: Understanding) -> bool:
    about_time = any(each.between or each.filters or each.period for each in found.requests)
    tables = {alternative.table.path for alternative in found.alternatives}
    only_table = not found.requests and 1 < len(tables) == len(found.alternatives)
    return about_time or (bool(found.unclear) and not only_table)


def _complete_values(script: Script, table: Table) -> Table:
    """DuckDB reads yes and no as booleans: such columns keep the spelling of the file."""
    known = complete_values(script, table)
    pairs = zip(table.columns, known.columns, strict=True)
    kept = (old if all(yes_and_no(old)) and all(yes_and_no(new)) else new for old, new in pairs)
    return replace(known, columns=tuple(kept))


def _likely(found: Understanding, tables: Sequence[Table]) -> list[Table]:
    meant = [request.table.path for request in (*found.requests, *found.alternatives)]
    others = [request.other.path for request in found.requests if request.other]
    likely = [table for table in tables if table.path in (*meant, *others)]
    return likely if found.requests and likely else list(tables)


def _ask_meaning(
    script: Script, text: str, tables: Sequence[Table], found: Understanding
) -> Understanding:
    if not found.alternatives:
        wanted = _ask_target(script, text, tables)
        if wanted:
            return Understanding((wanted,))
        script.fail(texts.not_understood(found.unclear, is_step=script.run.is_step))
    by_table = {other.table.path: other for other in found.alternatives[:_MAX_OFFERED]}
    if len(by_table) == len(found.alternatives) > 1:
        return _ask_table(script, text, tables, by_table)
    offered = map(sentence, found.alternatives[:_MAX_OFFERED])
    options = {words: words for words in offered}
    options[NEITHER] = "None of these"
    answer = script.ask("What do you mean?", found.unclear, options)
    if answer == NEITHER:
        script.fail(f"Nothing was done. {found.unclear}")
    return understand(found.with_choice(answer), tables, language=language_of(text))


def _ask_table(
    script: Script, text: str, tables: Sequence[Table], by_table: Mapping[str, Request]
) -> Understanding:
    """The one chosen before, or the only one that the notebook reads or is next to; else ask."""
    folder = posixpath.dirname(script.conversation.notebook or "")
    beside = [path for path in by_table if folder and path.startswith(f"{folder}/")]
    noted = ""
    if answer := remembered_answer(script, text, by_table) or "":
        noted = f"You mean `{answer}`, as you said before."
    elif len(read := _read_by_notebook(script, by_table)) == 1:
        answer = read[0]
        noted = f"You mean `{answer}`, which the notebook reads."
    elif len(beside) == 1:
        answer = beside[0]
    else:
        options = {path: sentence(request) for path, request in by_table.items()}
        context = f"The workspace has {len(by_table)} tables that fit."
        answer = script.ask("Which table do you mean?", context, options)
    chosen = [table for table in tables if table.path == answer]
    found = understand(text, chosen or tables, language=language_of(text))
    if noted and found.requests:
        return replace(found, unclear=f"{noted} {found.unclear}".rstrip())
    return found


def _read_by_notebook(script: Script, paths: Iterable[str]) -> list[str]:
    """Those that its code names."""
    notebook = script.conversation.notebook
    found = script.call("read_notebook", path=notebook) if notebook else None
    if notebook is None or found is None or not found.ok:
        return []
    code = [cell.source for cell in cells_in(found.facts) if cell.kind == "code"]
    strings = set(re.findall(r"""["']([^"'\n]+)["']""", "\n".join(code)))
    folder = posixpath.dirname(notebook) or "."
    return [path for path in paths if posixpath.relpath(path, folder) in strings]


def _ask_target(script: Script, text: str, tables: Sequence[Table]) -> Request | None:
    if not any(word in text.lower() for word in ("model", "predict", "vorhersag")):
        return None
    table = tables[0]
    options = {column.name: column.name for column in table.columns if column.kind != "empty"}
    if not options:
        script.fail(f"Every column of `{table.path}` is empty.")
    target = remembered_answer(script, text, options) or script.ask(
        "Which column should I predict?",
        f"A baseline model on {table.path} needs a target column.",
        dict(list(options.items())[:12]),
        default=list(options)[:12][-1],
    )
    return Request("model", table, (target,)) if target in table.names else None


def _named_output(script: Script, requests: Sequence[Request]) -> str:
    """The file that the approved step names for what it writes; empty if it names none or several.

    Of its files, that is the one table which it does not read.
    """
    tables = [table for request in requests for table in (request.table, request.other) if table]
    read = {table.path for table in tables}
    paths = {path for path in script.run.files if _ONE_FILE.fullmatch(path)}
    named = [path for path in paths - read if is_table(path)]
    if len(named) != 1 or sum(bool(request.output_file) for request in requests) != 1:
        return ""
    if not named[0].lower().endswith(".csv"):
        script.fail(f"I cannot write `{named[0]}`: I only write CSV files. Name one in the plan.")
    return named[0]


def _use_outputs(requests: Sequence[Request], files: Sequence[str], named: str) -> list[Request]:
    """Run later requests on what a cleaning or a join writes, unless that file already exists."""
    outputs: dict[str, Table] = {}
    done = []
    for request in requests:
        usual = request.output_file
        replaced = request.table.path if request.verb == "clean" else usual
        other = outputs.get(request.other.path, request.other) if request.other else None
        table = outputs.get(request.table.path, request.table)
        request = replace(request, table=table, other=other, named_output=usual and named)
        done.append(request)
        if usual and (named or usual) not in files and (output := output_table(request)):
            outputs[replaced] = output
    return done


def _untidy(requests: Sequence[Request]) -> list[str]:
    notes = []
    for request in requests:
        names = {*request.groups, *(row_filter.column for row_filter in request.filters)}
        for column in request.table.columns:
            if column.name in names and column.untidy:
                some = ", ".join(f"“{value}”" for value in column.untidy[:3])
                notes.append(
                    f"Some values of `{column.name}` are written in several ways ({some}); they "
                    "count as one."
                )
    return list(dict.fromkeys(notes))
