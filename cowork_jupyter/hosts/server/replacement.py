"""New content for an open notebook, as instructions for its tab: only the differences, by cell.

The tab decides nothing. It checks that its cells still have the text that the content was based on,
then applies the instructions; what they do not name stays, such as outputs that came meanwhile.
"""

from __future__ import annotations

from typing import Any

import nbformat

from ...tools.notebook.stored import Document


def replacement(present: Document | None, target: Document) -> dict[str, Any]:
    """`present` is what the tab should hold; None if unknown, and then not checked."""
    expected = None if present is None else texts(present)
    if present is None or not (_has_ids(present) and _has_ids(target)):
        return {"expected": expected, "content": target}
    known = {cell["id"]: cell for cell in present["cells"]}
    return {
        "expected": expected,
        "cells": [_difference(known.get(cell["id"]), cell) for cell in target["cells"]],
        "metadata": _keys(present.get("metadata") or {}, target.get("metadata") or {}),
    }


def texts(document: Document) -> list[dict[str, Any]]:
    """What a tab compares: its cells without outputs and metadata."""
    names = ("id", "cell_type", "source")
    return [{name: cell[name] for name in names if name in cell} for cell in document["cells"]]


def join_lines(document: Document) -> Document:
    """Join multi-line strings, which files may keep line by line, as tabs do."""
    nodes: Any = nbformat
    return dict(nodes.v4.rwbase.rejoin_lines(nodes.from_dict(document)))


def serialize(content: dict[str, Any]) -> bytes:
    """The bytes that Jupyter's contents manager would write."""
    nodes: Any = nbformat
    text: str = nodes.writes(nodes.from_dict(content), version=nodes.NO_CONVERT)
    return (text if text.endswith("\n") else f"{text}\n").encode()


def _has_ids(document: Document) -> bool:
    return all("id" in cell for cell in document["cells"])


def _difference(known: dict[str, Any] | None, cell: dict[str, Any]) -> dict[str, Any]:
    """The whole cell if it or its type is new; else its id and the fields that differ."""
    if known is None or known["cell_type"] != cell["cell_type"]:
        return cell
    fields = known.keys() | cell.keys()
    differing = {name: cell.get(name) for name in fields if known.get(name) != cell.get(name)}
    return {"id": cell["id"], **differing}


def _keys(present: dict[str, Any], target: dict[str, Any]) -> dict[str, Any]:
    changed = {key: value for key, value in target.items() if present.get(key, ...) != value}
    return {"set": changed, "delete": sorted(present.keys() - target.keys())}
