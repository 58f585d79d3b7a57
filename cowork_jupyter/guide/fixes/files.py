"""Files that are not where the code looks for them."""

from __future__ import annotations

import ast
import re
from posixpath import basename

from .cell import FailingCell, Fix
from .code import quoted
from .nearest import nearest

_PATH = re.compile(
    r"(?:No such file or directory|Is a directory|does not exist)[^'\"]*['\"]([^'\"\n]+)"
)
_STARTS = re.compile(r"File ['\"]?([^'\"\n]+?)['\"]? does not exist")
_TABLES = (".csv", ".tsv", ".xlsx", ".xls", ".json", ".parquet", ".txt", ".feather")


def missing_file(cell: FailingCell) -> Fix | None:
    if cell.error.name not in ("FileNotFoundError", "OSError", "IsADirectoryError"):
        return None
    found = _PATH.search(cell.message) or _STARTS.search(cell.message)
    if not found:
        return None
    path = found[1]
    near = _near(path, cell.files)
    if near is None:
        beside = [file for file in cell.files if file.lower().endswith(_TABLES)]
        some = (
            f" These are here: {', '.join(f'`{file}`' for file in beside[:5])}." if beside else ""
        )
        return Fix(
            f"There is no file `{path}` in this workspace.{some} Check the name, or upload it."
        )
    for node in cell.code.find(ast.Constant, cell.lines):
        if node.value == path or (isinstance(node.value, str) and path.endswith(f"/{node.value}")):
            edit = cell.code.replaced(node, quoted(near, cell.code.source(node)))
            why = f"There is no `{path}`; the file is at `{near}`."
            return Fix(why, cell.code.edited(edit))
    return Fix(f"There is no `{path}`. Did you mean `{near}`?")


def _near(path: str, files: tuple[str, ...]) -> str | None:
    """The same name elsewhere, the closest first; else a similar name."""
    name = basename(path.replace("\\", "/"))
    same = [file for file in files if basename(file).lower() == name.lower()]
    if same:
        return min(same, key=lambda file: (file.count("/"), file))
    suffix = "." + name.rpartition(".")[2].lower() if "." in name else ""
    alike = [file for file in files if file.lower().endswith(suffix)]
    by_name = {basename(file): file for file in sorted(alike, key=lambda other: -other.count("/"))}
    near = nearest(name, by_name, 0.7)
    if near is None and suffix:
        stem = name[: -len(suffix)]
        others = {basename(file).rpartition(".")[0]: file for file in files
                  if file.lower().endswith(_TABLES)}  # fmt: skip
        return None if stem in others else _of(nearest(stem, others, 0.85), others)
    return _of(near, by_name)


def _of(name: str | None, files: dict[str, str]) -> str | None:
    return files[name] if name else None
