"""What the guide looks at before it says anything: files, heads of tables, the notebook."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from . import words
from .file_names import comparable, is_table, named_in, quoted, unquoted
from .heads import head_of
from .script import Script
from .tables import FORMATS, SUFFIXES, Table

MAX_TABLES = 8
_MAX_OFFERED = 8
_ENDINGS = "|".join(ending[1:] for ending in (*SUFFIXES, *FORMATS, ".ipynb"))
_PATH_IN_TEXT = re.compile(rf"[\w./-]{{0,200}}\w\.(?:{_ENDINGS})\b(?!\.\w)", re.IGNORECASE)
_UNREADABLE = (".feather", ".h5", ".hdf5", ".sqlite", ".db", ".gz", ".zip", ".pkl", ".xml", ".pdf",
               ".docx", ".dta", ".sav", ".rds")  # fmt: skip
_SETTINGS = re.compile(
    r"(?:^|/)(?:package|package-lock|tsconfig|settings|config|\.[^/]*)[^/]*\.json$"
)


def all_files(script: Script) -> list[str]:
    result = script.call("list_directory", path=".", depth=3)
    if not result.ok:
        script.fail(f"I cannot list the workspace: {words.first_line(result.text)}")
    return list(result.facts["files"])


def tables_for(script: Script, text: str, files: Sequence[str]) -> list[Table]:
    """The tables that a text names, else all.

    If a named file cannot be read, fail instead of taking another one.
    """
    named = _named(script, text, files)
    if not named:
        _refuse_others(script, text, files)
        return _readable(script, files)
    tables = []
    for path in named[:MAX_TABLES]:
        head = head_of(script, path)
        if head.table is None:
            script.fail(f"I cannot read `{path}`: {head.why.rstrip('.')}.")
        tables.append(head.table)
    return tables


def _named(script: Script, text: str, files: Sequence[str]) -> list[str]:
    """Named tables, including paths too deep to be listed."""
    tables = [path for path in files if is_table(path) and f"into `{path}`" not in text]
    known = named_in(text, tables, _folder(script)) or named_in(text, _without_suffix(files))
    known = [path for path in known if _is_whole(path, text)]
    bare = _PATH_IN_TEXT.findall(unquoted(text).replace("%20", " "))
    written = [path for path in (*quoted(text), *bare) if is_table(path)]
    outputs = {path for path in written if path not in files and _is_output(text, path)}
    missing = [
        table_path
        for table_path in dict.fromkeys(written)
        if table_path not in outputs
        and not any(_ends_with(path, _plain(table_path)) for path in files)
    ]
    return [*known, *missing]


def _is_whole(path: str, text: str) -> bool:
    """A bare stem may also be a column: `sales`."""
    name = posixpath.basename(path)
    if len(re.findall(r"[^\W_]+", name.rpartition(".")[0])) > 1:
        return True
    return comparable(name) in comparable(text) or "." not in name or f"`{path}`" in text


def _without_suffix(files: Sequence[str]) -> list[str]:
    return [path for path in files if "." not in posixpath.basename(path)]


def _ends_with(path: str, end: str) -> bool:
    return comparable(path).endswith(comparable(end))


def _refuse_others(script: Script, text: str, files: Sequence[str]) -> None:
    others = [path for path in files if path.lower().endswith(_UNREADABLE)]
    for path in named_in(text, others, _folder(script)):
        if _is_whole(path, text):
            script.fail(
                f"I cannot read `{path}`. I work with CSV, TSV, Excel, JSON and Parquet files."
            )


def _folder(script: Script) -> str:
    """Names resolve in the notebook's folder for users, in the top folder for plans."""
    return "" if script.run.is_step else posixpath.dirname(script.here.notebook or "")


def _plain(path: str) -> str:
    return re.sub(r"^(?:\.{1,2}/)+", "", path)


def _is_output(text: str, path: str) -> bool:
    return f"into `{path}`" in text or f"into {path}" in text


def _readable(script: Script, files: Sequence[str]) -> list[Table]:
    """The tables of the workspace, the nearest to the notebook first."""
    here = posixpath.dirname(script.here.notebook or "")
    found = [path for path in files if is_table(path) and not _SETTINGS.search(path)]
    sure = [path for path in found if not path.lower().endswith(".txt")]
    found = sure or [path for path in found if "require" not in path]
    found.sort(key=lambda path: (posixpath.dirname(path) != here, path.count("/"), path))
    heads = [(path, head_of(script, path)) for path in found[:MAX_TABLES]]
    tables = [head.table for _path, head in heads if head.table]
    if not tables:
        script.fail(_no_table(files, [f"`{path}` ({head.why})" for path, head in heads]))
    return tables


def _no_table(files: Sequence[str], tried: Sequence[str]) -> str:
    others = [f"`{path}`" for path in files if path.lower().endswith(_UNREADABLE)]
    seen = [*tried, *others][:4]
    cannot = f" I cannot read {', '.join(seen)}." if seen else ""
    why = "I found no table (CSV, TSV, Excel, JSON, Parquet) in the workspace."
    return f"{why}{cannot} Add one, or give me its path."


def notebook_for(script: Script, text: str, files: Sequence[str]) -> str:
    """The notebook that is named, else the current, else the only one; else ask."""
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
