"""Errors that were left, and errors that nobody would see."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .subject import RAISES, ReviewRemark, Subject

_EVERYTHING = {"Exception", "BaseException"}


def error_remarks(subject: Subject) -> Iterator[ReviewRemark]:
    for cell in subject.code:
        if RAISES in cell.state.tags:
            continue
        if cell.failed:
            advice = "Mend it, or tag it `raises-exception` if the error is what it shows."
            yield ReviewRemark("major", "It ended with an error.", advice, cell)
        elif subject.is_python and cell.count is None and cell.python is not None:
            line = _syntax_error(cell.python)
            if line is not None:
                yield ReviewRemark(
                    "major", "It is not valid Python.", "Mend the syntax.", cell, line
                )


def _syntax_error(code: str) -> int | None:
    try:
        ast.parse(code)
    except SyntaxError as error:
        return error.lineno or 1
    except (ValueError, RecursionError):
        return None
    return None


def except_remarks(subject: Subject) -> Iterator[ReviewRemark]:
    for cell, tree in subject.trees():
        for node in ast.walk(tree):
            if not isinstance(node, ast.ExceptHandler) or not _catches_all(node):
                continue
            if all(_does_nothing(statement) for statement in node.body):
                comment = "Every error is caught here and passed over in silence."
                advice = "Catch the one error that is expected, and say so when it comes."
                yield ReviewRemark("major", comment, advice, cell, node.lineno)
            elif node.type is None and not any(_raises(statement) for statement in node.body):
                comment = "`except:` also catches the interruption of the kernel."
                yield ReviewRemark(
                    "minor", comment, "Write `except Exception:`.", cell, node.lineno
                )


def _catches_all(handler: ast.ExceptHandler) -> bool:
    kind = handler.type
    return kind is None or (isinstance(kind, ast.Name) and kind.id in _EVERYTHING)


def _does_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.Pass | ast.Continue)


def _raises(statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.Raise) for node in ast.walk(statement))
