"""Reads expressions into values, inlining functions of the program."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

from .values import Value

MAX_DEPTH = 4
_USUAL = {
    "pd": "pandas", "np": "numpy", "pl": "polars", "plt": "matplotlib.pyplot", "sns": "seaborn",
    "random": "random",
}  # fmt: skip
_OPERATORS = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
}  # fmt: skip
_CHANGES_LIST = {"append", "extend", "add", "insert", "update"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Assignment:
    name: str
    value: Value


@dataclass
class CellReading:
    """What a cell displays, and the values that it reads by name."""

    last: Value | None = None
    read: set[int] = field(default_factory=set)


@dataclass
class DataFlow:
    """What code does, in order of execution."""

    calls: list[Value] = field(default_factory=list)
    stores: list[Value] = field(default_factory=list)
    """`set` values whose base is the container."""
    assignments: list[Assignment] = field(default_factory=list)
    thrown_away: list[Value] = field(default_factory=list)
    """Values of expression statements that are not displayed as the last of a cell."""
    last: Value | None = None
    cells: list[CellReading] = field(default_factory=list)
    decisions: list[Value] = field(default_factory=list)
    """Conditions of `if` and `while`."""
    initial: dict[str, Value] = field(default_factory=dict)
    final: dict[str, Value] = field(default_factory=dict)
    functions: dict[str, tuple[Function, bool]] = field(default_factory=dict)

    def current(self, values: Sequence[Value]) -> list[Value]:
        """Those of the code in question, not of what ran earlier."""
        return [value for value in values if value.line is not None]


class ExpressionReader(ABC):
    def __init__(self, program: DataFlow) -> None:
        self.program = program
        self.names: dict[str, Value] = {}
        self.is_current = False
        self.loops: list[Value] = []
        self._depth = 0
        self._line: int | None = None
        """Of the call whose function is being inlined, if that is defined elsewhere."""
        self.returned: Value | None = None

    def make(self, node: ast.AST, op: str, name: str = "", **about: object) -> Value:
        line = self._line or getattr(node, "lineno", None)
        value = Value(op, name, line=line if self.is_current else None, **about)  # type: ignore[arg-type]
        value.loops = tuple(self.loops)
        return value

    @abstractmethod
    def bind(self, target: ast.expr, value: Value) -> None: ...

    @abstractmethod
    def body(self, statements: Sequence[ast.stmt]) -> None: ...

    def value(self, node: ast.expr) -> Value:
        if isinstance(node, ast.Constant):
            return self.make(node, "constant", constant=node.value)
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.Attribute):
            base = self.value(node.value)
            if base.op == "path":
                return self.make(node, "path", f"{base.name}.{node.attr}")
            return self.make(node, "attribute", node.attr, base=base)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Subscript):
            base = self.value(node.value)
            return self.make(node, "index", base=base, args=(self._argument(node.slice, base),))
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            return self.make(node, "list", args=tuple(self.value(element) for element in node.elts))
        if isinstance(node, ast.Dict):
            return self._dict(node)
        return self._operation(node)

    def _name(self, node: ast.Name) -> Value:
        if node.id not in self.names:
            usual = _USUAL.get(node.id)
            found = self.make(node, "path" if usual else "global", usual or node.id)
            found.line = None
            self.names[node.id] = found
        if self.program.cells:
            self.program.cells[-1].read.add(id(self.names[node.id]))
        return self.names[node.id]

    def _dict(self, node: ast.Dict) -> Value:
        pairs = []
        for key, held in zip(node.keys, node.values, strict=True):
            value = self.value(held)
            if key is not None:
                pairs.append(self.make(held, "pair", args=(self.value(key), value)))
            else:
                pairs.append(self.make(held, "pair", args=(value, value)))
        return self.make(node, "dict", args=tuple(pairs))

    def _operation(self, node: ast.expr) -> Value:
        if isinstance(node, ast.Compare):
            args = tuple(self.value(operand) for operand in [node.left, *node.comparators])
            names = " ".join(_OPERATORS.get(type(operator), "?") for operator in node.ops)
            return self.make(node, "compare", names, args=args)
        if isinstance(node, ast.BinOp):
            args = (self.value(node.left), self.value(node.right))
            return self.make(node, "operator", type(node.op).__name__, args=args)
        if isinstance(node, ast.UnaryOp):
            return self.make(
                node, "operator", type(node.op).__name__, args=(self.value(node.operand),)
            )
        if isinstance(node, ast.BoolOp):
            args = tuple(self.value(operand) for operand in node.values)
            return self.make(node, "operator", type(node.op).__name__, args=args)
        if isinstance(node, ast.Slice):
            ends = [self.value(bound) if bound else Value("constant", constant=None)
                    for bound in (node.lower, node.upper, node.step)]  # fmt: skip
            return self.make(node, "slice", args=tuple(ends))
        if isinstance(node, ast.NamedExpr):
            value = self.value(node.value)
            self.bind(node.target, value)
            return value
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            return self._comprehension(node)
        if isinstance(node, ast.Lambda):
            return self.make(node, "lambda")
        if isinstance(node, ast.IfExp):
            args = tuple(self.value(part) for part in (node.body, node.orelse, node.test))
            return self.make(node, "other", args=args)
        children = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        return self.make(node, "other", args=tuple(self.value(child) for child in children))

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
    ) -> Value:
        kept = dict(self.names)
        for part in node.generators:
            loop = self.make(node, "loop", base=self.value(part.iter))
            self.loops.append(loop)
            self.bind(part.target, loop)
            for condition in part.ifs:
                self.value(condition)
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        args = tuple(self.value(part) for part in parts)
        del self.loops[-len(node.generators) :]
        self.names = kept
        return self.make(node, "comprehension", args=args)

    def _argument(self, node: ast.expr, receiver: Value | None) -> Value:
        """A lambda of one argument gets the receiver of the method, as in `assign`."""
        if isinstance(node, ast.Lambda) and receiver is not None and len(node.args.args) == 1:
            kept = dict(self.names)
            self.names[node.args.args[0].arg] = receiver
            value = self.value(node.body)
            self.names = kept
            return value
        return self.value(node)

    def _call(self, node: ast.Call) -> Value:
        called = self.value(node.func)
        receiver = called.base if called.op == "attribute" else None
        args = tuple(self._argument(arg, receiver) for arg in node.args)
        keywords = {
            keyword.arg or "**": self._argument(keyword.value, receiver)
            for keyword in node.keywords
        }
        if isinstance(node.func, ast.Name) and called.op == "global":
            inlined = self._inline(node.func.id, node, args, keywords)
            if inlined is not None:
                return inlined
        if receiver is not None:
            return self._method(node, called, args, keywords)
        name = called.name if called.op in ("path", "global") else ""
        base = None if name else called
        value = self.make(node, "call", name, base=base, args=args, keywords=keywords)
        self.program.calls.append(value)
        return value

    def _method(
        self, node: ast.Call, called: Value, args: tuple[Value, ...], keywords: dict[str, Value]
    ) -> Value:
        receiver = called.base
        assert receiver is not None
        if called.name == "pipe" and node.args and isinstance(node.args[0], ast.Name):
            inlined = self._inline(node.args[0].id, node, (receiver, *args[1:]), keywords)
            if inlined is not None:
                return inlined
        value = self.make(node, "method", called.name, base=receiver, args=args, keywords=keywords)
        self.program.calls.append(value)
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        if isinstance(owner, ast.Name):
            if value.is_true("inplace"):
                self.names[owner.id] = value
                self.program.assignments.append(Assignment(owner.id, value))
            elif called.name in _CHANGES_LIST and args:
                self.names[owner.id] = self.make(node, "set", "list", base=receiver, args=args)
        return value

    def _inline(
        self, name: str, node: ast.Call, args: tuple[Value, ...], keywords: dict[str, Value]
    ) -> Value | None:
        """The result of calling a function of the program."""
        if name not in self.program.functions or self._depth >= MAX_DEPTH:
            return None
        function, is_current = self.program.functions[name]
        kept, returned, line = dict(self.names), self.returned, self._line
        given = function.args
        parameters = [
            parameter.arg for parameter in [*given.posonlyargs, *given.args, *given.kwonlyargs]
        ]
        for optional, default in zip(given.args[::-1], given.defaults[::-1], strict=False):
            self.names[optional.arg] = self.value(default)
        for parameter in parameters:
            self.names.setdefault(parameter, self.make(node, "other"))
        self.names.update(zip(parameters, args, strict=False))
        self.names.update(keywords)
        if not is_current and self._line is None:
            self._line = node.lineno
        self._depth += 1
        self.returned = None
        self.body(function.body)
        result = self.returned or self.make(node, "constant", constant=None)
        self._depth -= 1
        self.names, self.returned, self._line = kept, returned, line
        return result
