"""Reads code into values: what each name stands for, across cells and through functions."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from functools import lru_cache

from .expressions import Assignment, CellReading, DataFlow, ExpressionReader
from .values import Value

_MAGIC = re.compile(r"^(\s*)[%!].*$", re.MULTILINE)


@lru_cache(maxsize=256)  # the cells of a notebook are read again with each run
def parsed(code: str) -> ast.Module | None:
    """None for another language. Magics have no effect on tables."""
    first, _, rest = code.lstrip("\n").partition("\n")
    if first.startswith("%%"):
        if first.split()[0] not in ("%%time", "%%timeit", "%%capture"):
            return None
        code = "\n" * (code.count("\n") - rest.count("\n")) + rest
    try:
        return ast.parse(_MAGIC.sub(r"\1pass", code))
    except (SyntaxError, ValueError, RecursionError):
        return None


def read(code: str, earlier: Sequence[str] = ()) -> DataFlow | None:
    """The program of a cell after others; None if it cannot be parsed."""
    tree = parsed(code)
    if tree is None:
        return None
    program = DataFlow()
    reader = _Reader(program)
    try:
        for cell in earlier:
            before = parsed(cell)
            if before is not None:
                reader.run(before)
        program.initial = dict(reader.names)
        reader.is_current = True
        reader.run(tree)
    except RecursionError:  # an expression of thousands of parts
        return None
    program.final = dict(reader.names)
    return program


class _Reader(ExpressionReader):
    """Reads statements in order of execution, and all branches."""

    def run(self, tree: ast.Module) -> None:
        self.program.cells.append(CellReading())
        for place, statement in enumerate(tree.body):
            if isinstance(statement, ast.Expr):
                value = self.value(statement.value)
                if place == len(tree.body) - 1:
                    self.program.cells[-1].last = value
                    self.program.last = value if self.is_current else None
                else:
                    self.program.thrown_away.append(value)
            else:
                self.statement(statement)

    def body(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Expr):
            self.program.thrown_away.append(self.value(node.value))
        elif isinstance(node, ast.Assign):
            value = self.value(node.value)
            for target in node.targets:
                self.bind(target, value)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self.bind(node.target, self.value(node.value))
        elif isinstance(node, ast.AugAssign):
            old = ast.copy_location(_loaded(node.target), node)
            args = (self.value(old), self.value(node.value))
            name = type(node.op).__name__
            self.bind(node.target, self.make(node, "operator", name, args=args))
        elif isinstance(node, ast.For | ast.AsyncFor):
            self._loop(node)
        elif isinstance(node, ast.While | ast.If):
            self.program.decisions.append(self.value(node.test))
            self.body([*node.body, *node.orelse])
        elif isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                value = self.value(item.context_expr)
                if item.optional_vars is not None:
                    self.bind(item.optional_vars, value)
            self.body(node.body)
        elif isinstance(node, ast.Try):
            self.body([*node.body, *node.orelse, *node.finalbody])
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self.program.functions[node.name] = (node, self.is_current)
            self.names.pop(node.name, None)
        elif isinstance(node, ast.Return) and node.value is not None:
            self.returned = self.value(node.value)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            self._import(node)
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                self._delete(target)

    def _delete(self, target: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.names.pop(target.id, None)
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            base, key = self.value(target.value), self.value(target.slice)
            self.names[target.value.id] = self.make(target, "method", "pop", base=base, args=(key,))

    def _loop(self, node: ast.For | ast.AsyncFor) -> None:
        loop = self.make(node, "loop", base=self.value(node.iter))
        self.loops.append(loop)
        self.bind(node.target, loop)
        self.body(node.body)
        self.loops.pop()
        self.body(node.orelse)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if isinstance(node, ast.ImportFrom):
                path = f"{node.module}.{alias.name}"
                self.names[alias.asname or alias.name] = self.make(node, "path", path)
            else:
                path = alias.name if alias.asname else alias.name.split(".")[0]
                self.names[alias.asname or path] = self.make(node, "path", path)

    def bind(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self.names[target.id] = value
            self.program.assignments.append(Assignment(target.id, value))
        elif isinstance(target, ast.Tuple | ast.List):
            direct = value.args if value.op == "list" else ()
            for place, element in enumerate(target.elts):
                if len(direct) == len(target.elts):
                    self.bind(element, direct[place])
                else:
                    self.bind(
                        element, self.make(target, "item", str(place), base=value, constant=place)
                    )
        elif isinstance(target, ast.Subscript):
            self._store(target, self.value(target.slice), value)
        elif isinstance(target, ast.Attribute):
            key = self.make(target, "constant", constant=target.attr)
            self._store(target, key, value)

    def _store(self, target: ast.Subscript | ast.Attribute, key: Value, value: Value) -> None:
        """Rebind the name of the container: its value is another one from here on."""
        container = target.value
        base = self.value(container)
        store = self.make(target, "set", base=base, args=(key, value))
        if isinstance(target, ast.Attribute):
            store.name = "attribute"
        self.program.stores.append(store)
        owner = container
        if isinstance(owner, ast.Attribute) and owner.attr in ("loc", "iloc", "at", "iat"):
            owner = owner.value
            store.name = "loc"
        if isinstance(owner, ast.Name):
            self.names[owner.id] = store
            self.program.assignments.append(Assignment(owner.id, store))


def _loaded(target: ast.expr) -> ast.expr:
    """The same expression in a load context."""
    copy: ast.expr = ast.parse(ast.unparse(target), mode="eval").body
    return copy
