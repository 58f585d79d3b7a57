"""The global names that a cell defines and needs."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...domain.user_code import as_python, parse_code

_CHANGING = frozenset({
    "add", "append", "clear", "discard", "extend", "fit", "insert", "pop", "popitem", "remove",
    "reverse", "setdefault", "sort", "update",
})  # fmt: skip
"""Methods that change their object; others do with `inplace=True`."""
_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True)
class CellNames:
    """The names of one cell, as it runs from its first line to its last."""

    made: frozenset[str] = frozenset()
    """Defined, also in functions that say `global`."""
    used: frozenset[str] = frozenset()
    """Referred to as it runs, not inside of functions."""
    needed: frozenset[str] = frozenset()
    """Those of `used` that it refers to before it has defined them."""
    changed: frozenset[str] = frozenset()
    """Whose content it changes: `table["total"] = …`."""
    in_functions: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """What functions and classes refer to once they are used, by their names."""
    everything: bool = False
    """Whether it has a star import."""


def names_in(source: str) -> CellNames | None:
    """None if the cell cannot be parsed; a cell in another language has no names."""
    if as_python(source) is None:
        return CellNames()
    tree = parse_code(source)
    if tree is None:
        return None
    try:
        walk = _Walk()
        walk.visit(tree)
    except RecursionError:
        return None
    return CellNames(
        made=frozenset(walk.made),
        used=frozenset(walk.used),
        needed=frozenset(walk.needed),
        changed=frozenset(walk.changed),
        in_functions={name: frozenset(names) for name, names in walk.in_functions.items()},
        everything=walk.everything,
    )


class _Walk(ast.NodeVisitor):
    """Visits code in the order in which it runs; branches count as taken."""

    def __init__(self) -> None:
        self.made: set[str] = set()
        self.used: set[str] = set()
        self.needed: set[str] = set()
        self.changed: set[str] = set()
        self.in_functions: dict[str, set[str]] = {}
        self.everything = False
        self._global: set[str] = set()

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self.made.add(node.id)
        else:
            self._use(node.id)

    def visit_Assign(self, node: ast.Assign) -> None:
        self._each(node.value, *node.targets)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._each(node.annotation, node.value)
        if node.value is not None or not isinstance(node.target, ast.Name):
            self.visit(node.target)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self._use(node.target.id)
        self._each(node.value, node.target)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self._each(node.value, node.target)

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        self._each(node.iter, node.target, *node.body, *node.orelse)

    visit_AsyncFor = visit_For  # noqa: N815 (Python's name)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self._note_change(node)
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._note_change(node)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Attribute) and (
            node.func.attr in _CHANGING or any(map(_is_in_place, node.keywords))
        ):
            self.changed.update(_owner(node.func))
        self.generic_visit(node)

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if alias.name == "*":
                self.everything = True
            else:
                self.made.add(alias.asname or alias.name.partition(".")[0])

    visit_ImportFrom = visit_Import  # noqa: N815 (Python's name)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self._each(node.type)
        if node.name:
            self.made.add(node.name)
        self._each(*node.body)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._each(*node.decorator_list)
        self._define(node.name, self._free_names(node))

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 (Python's name)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """It may be called here, so it counts as if it were."""
        for name in sorted(self._free_names(node)):
            self._use(name)

    def visit_Global(self, node: ast.Global) -> None:
        self._global.update(node.names)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._each(*node.decorator_list, *node.bases, *node.keywords)
        inside = _Walk()
        inside._each(*node.body)
        for name in sorted(inside.needed):
            self._use(name)
        self._define(node.name, set().union(*inside.in_functions.values()))

    def _visit_comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
    ) -> None:
        """Its own names are gone when it ends."""
        inside = _Walk()
        inside._each(
            *(
                part
                for generator in node.generators
                for part in (generator.iter, generator.target, *generator.ifs)
            )
        )
        inside._each(*([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]))
        for name in sorted(inside.needed):
            self._use(name)
        self.changed |= inside.changed - inside.made

    visit_ListComp = visit_SetComp = _visit_comprehension  # noqa: N815 (Python's names)
    visit_GeneratorExp = visit_DictComp = _visit_comprehension  # noqa: N815 (Python's names)

    def visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar | ast.MatchMapping) -> None:
        name = node.rest if isinstance(node, ast.MatchMapping) else node.name
        self.made.update([name] if name else [])
        self.generic_visit(node)

    visit_MatchStar = visit_MatchMapping = visit_MatchAs  # noqa: N815 (Python's name)

    def _each(self, *nodes: ast.AST | None) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    def _use(self, name: str) -> None:
        self.used.add(name)
        if name not in self.made:
            self.needed.add(name)

    def _define(self, name: str, inside: set[str]) -> None:
        self.made.add(name)
        self.in_functions[name] = inside

    def _note_change(self, node: ast.Subscript | ast.Attribute) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.changed.update(_owner(node))

    def _free_names(self, node: _Scope) -> set[str]:
        """What a function refers to outside of itself. What it declares global, it defines here."""
        arguments = node.args
        self._each(*arguments.defaults, *arguments.kw_defaults)
        inside = _Walk()
        inside._each(*([node.body] if isinstance(node, ast.Lambda) else node.body))
        self.made |= inside.made & inside._global
        local = (inside.made - inside._global) | {
            argument.arg
            for argument in (
                *arguments.posonlyargs,
                *arguments.args,
                *arguments.kwonlyargs,
                *filter(None, (arguments.vararg, arguments.kwarg)),
            )
        }
        return set().union(inside.used, *inside.in_functions.values()) - local


def _owner(node: ast.expr) -> set[str]:
    """The name at the left of all dots and brackets."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()


def _is_in_place(keyword: ast.keyword) -> bool:
    value = keyword.value
    return keyword.arg == "inplace" and isinstance(value, ast.Constant) and value.value is True
