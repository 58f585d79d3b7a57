"""What the guide looks at before it says anything: files, heads of tables, the notebook."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from . import words
from .intents import comparable, is_table, named_in, quoted, unquoted
from .script import Script
from .tables import LINES_READ, Table, table_of

MAX_TABLES = 2
_MAX_OFFERED = 8
_PATH_IN_TEXT = re.compile(
    r"[\w./-]*\w\.(?:csv|tsv|tab|txt|dat|psv|ipynb)\b(?!\.\w)", re.IGNORECASE
)
_UNREADABLE = (".parquet", ".xlsx", ".xls", ".feather", ".h5", ".sqlite", ".db", ".json", ".gz")


def all_files(script: Script) -> list[str]:
    """The files of the workspace, three folders deep."""
    result = script.call("list_directory", path=".", depth=3)
    if not result.ok:
        script.fail(f"I cannot list the workspace: {words.first_line(result.text)}")
    return list(result.facts["files"])


def tables_for(script: Script, text: str, files: Sequence[str], count: int = 1) -> list[Table]:
    """The tables that a text means; asks which if it could be several."""
    paths = _meant(script, text, files)[:MAX_TABLES]
    if not paths:
        _refuse_others(script, text, files)
        paths = _usual(script, files, count)
    tables = []
    for path in paths:
        table = head_of(script, path)
        if table is None:
            script.fail(f"I looked at `{path}`, but it is not a table I can read.")
        tables.append(table)
    return tables


def head_of(script: Script, path: str) -> Table | None:
    """The table in a file, from its first lines."""
    result = script.call("read_file", path=path, end_line=LINES_READ)
    if not result.ok:
        script.fail(f"I cannot read `{path}`: {words.first_line(result.text)}")
    facts = result.facts
    if facts.get("binary") or not facts["total_lines"]:
        return None
    # Below them the tool says how to read on.
    lines = result.text.split("\n")[: facts["last_line"] - facts["first_line"] + 1]
    return table_of(path, "\n".join(lines), facts["encoding"], facts["total_lines"])


def _meant(script: Script, text: str, files: Sequence[str]) -> list[str]:
    """The tables that are named; also such as are not in the listing, being too deep in it."""
    tables = [path for path in files if is_table(path) and f"into `{path}`" not in text]
    known = named_in(text, tables, _folder(script)) or named_in(text, _without_suffix(files))
    bare = _PATH_IN_TEXT.findall(unquoted(text).replace("%20", " "))
    written = [one for one in (*quoted(text), *bare) if is_table(one)]
    outputs = {one for one in written if one not in files and _is_output(text, one)}
    missing = [
        one
        for one in dict.fromkeys(written)
        if one not in outputs and not any(_ends_with(path, _plain(one)) for path in files)
    ]
    return [*known, *missing]


def _without_suffix(files: Sequence[str]) -> list[str]:
    return [path for path in files if "." not in posixpath.basename(path)]


def _ends_with(path: str, end: str) -> bool:
    return comparable(path).endswith(comparable(end))


def _refuse_others(script: Script, text: str, files: Sequence[str]) -> None:
    """Whoever names a file that cannot be read does not want another one."""
    others = [path for path in files if path.lower().endswith(_UNREADABLE)]
    for path in named_in(text, others, _folder(script)):
        script.fail(f"I cannot read `{path}`. I work with tables in .csv, .tsv and .txt files.")


def _folder(script: Script) -> str:
    """Where names are looked up first: users go by their notebook's folder, plans by the top."""
    return "" if script.run.is_step else posixpath.dirname(script.here.notebook or "")


def _plain(path: str) -> str:
    """Without the `./` and `../` that a folder's view of it begins with."""
    return re.sub(r"^(?:\.{1,2}/)+", "", path)


def _is_output(text: str, path: str) -> bool:
    return f"into `{path}`" in text or f"into {path}" in text


def _usual(script: Script, files: Sequence[str], count: int) -> list[str]:
    tables = [path for path in files if is_table(path) and not path.lower().endswith(".txt")]
    tables = tables or [
        path for path in files if path.lower().endswith(".txt") and "require" not in path
    ]
    if not tables:
        others = [path for path in files if path.lower().endswith(_UNREADABLE)]
        seen = (
            f" I cannot read {', '.join(f'`{other}`' for other in others[:4])}." if others else ""
        )
        why = "I found no table (.csv, .tsv, .txt) in the workspace."
        script.fail(f"{why}{seen} Add one, or give me its path.")
    if len(tables) <= count:
        return tables
    if count > 1:
        found = ", ".join(f"`{path}`" for path in tables[:_MAX_OFFERED])
        script.fail(f"Which two tables? Name both. I found {found}.")
    options = {path: path for path in tables[:_MAX_OFFERED]}
    return [script.ask("Which table do you mean?", f"The workspace has {len(tables)}.", options)]


def notebook_for(script: Script, text: str, files: Sequence[str]) -> str:
    """The notebook that a text means: one that it names, this one, or the only one."""
    notebooks = [path for path in files if path.lower().endswith(".ipynb")]
    named = named_in(text, notebooks, _folder(script))
    if named:
        return named[0]
    if script.here.notebook:
        return script.here.notebook
    if len(notebooks) == 1:
        return notebooks[0]
    if not notebooks:
        script.fail("I found no notebook in the workspace.")
    options = {path: path for path in notebooks[:_MAX_OFFERED]}
    return script.ask(
        "Which notebook do you mean?", f"The workspace has {len(notebooks)}.", options
    )
