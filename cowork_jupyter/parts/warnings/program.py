"""Reads code into values: what each name stands for, across cells and through functions."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...domain.user_code import parse_code
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
    calls: list[Value] = field(default_factory=list)
    stores: list[Value] = field(default_factory=list)
    """`set` values whose base is the container."""
    assignments: list[Assignment] = field(default_factory=list)
    discarded: list[Value] = field(default_factory=list)
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


def read(code: str, earlier: Sequence[str] = ()) -> DataFlow | None:
    """The program of a cell after others; None if it cannot be parsed."""
    tree = parse_code(code)
    if tree is None:
        return None
    program = DataFlow()
    reader = _Reader(program)
    try:
        for before in filter(None, map(parse_code, earlier)):
            reader.run(before)
        program.initial = dict(reader.names)
        reader.is_current = True
        reader.run(tree)
    except RecursionError:  # an expression of thousands of parts
        return None
    program.final = dict(reader.names)
    return program


class _Reader:
    """Evaluates statements symbolically in order of execution, following all branches."""

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

    def run(self, tree: ast.Module) -> None:
        self.program.cells.append(CellReading())
        for place, statement in enumerate(tree.body):
            if isinstance(statement, ast.Expr):
                value = self.value(statement.value)
                if place == len(tree.body) - 1:
                    self.program.cells[-1].last = value
                    self.program.last = value if self.is_current else None
                else:
                    self.program.discarded.append(value)
            else:
                self.statement(statement)

    def body(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Expr):
            self.program.discarded.append(self.value(node.value))
        elif isinstance(node, ast.Assign):
            value = self.value(node.value)
            for target in node.targets:
                self.bind(target, value)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self.bind(node.target, self.value(node.value))
        elif isinstance(node, ast.AugAssign):
            read_target = ast.parse(ast.unparse(node.target), mode="eval").body
            old = ast.copy_location(read_target, node)
            args = (self.value(old), self.value(node.value))
            self.bind(node.target, self.make(node, "operator", type(node.op).__name__, args=args))
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
                name, path = alias.name, f"{node.module}.{alias.name}"
            else:
                name = path = alias.name if alias.asname else alias.name.split(".")[0]
            self.names[alias.asname or name] = self.make(node, "path", path)

    def bind(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self.names[target.id] = value
            self.program.assignments.append(Assignment(target.id, value))
        elif isinstance(target, ast.Tuple | ast.List):
            is_unpacked = value.op == "list" and len(value.args) == len(target.elts)
            for place, element in enumerate(target.elts):
                item = (
                    value.args[place]
                    if is_unpacked
                    else self.make(target, "item", str(place), base=value, constant=place)
                )
                self.bind(element, item)
        elif isinstance(target, ast.Subscript):
            self._store(target, self.value(target.slice), value)
        elif isinstance(target, ast.Attribute):
            key = self.make(target, "constant", constant=target.attr)
            self._store(target, key, value)

    def _store(self, target: ast.Subscript | ast.Attribute, key: Value, value: Value) -> None:
        """Rebind the name of the container: its value is another one from here on."""
        owner = target.value
        store = self.make(target, "set", base=self.value(owner), args=(key, value))
        if isinstance(target, ast.Attribute):
            store.name = "attribute"
        self.program.stores.append(store)
        if isinstance(owner, ast.Attribute) and owner.attr in ("loc", "iloc", "at", "iat"):
            owner = owner.value
            store.name = "loc"
        if isinstance(owner, ast.Name):
            self.names[owner.id] = store
            self.program.assignments.append(Assignment(owner.id, store))

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
            first = value if key is None else self.value(key)
            pairs.append(self.make(held, "pair", args=(first, value)))
        return self.make(node, "dict", args=tuple(pairs))

    def _operation(self, node: ast.expr) -> Value:
        if isinstance(node, ast.Compare):
            args = tuple(self.value(operand) for operand in [node.left, *node.comparators])
            names = " ".join(_OPERATORS.get(type(operator), "?") for operator in node.ops)
            return self.make(node, "compare", names, args=args)
        if isinstance(node, ast.BinOp):
            args = (self.value(node.left), self.value(node.right))
            return self.make(node, "operator", type(node.op).__name__, args=args)
        if isinstance(node, ast.UnaryOp | ast.BoolOp):
            operands = node.values if isinstance(node, ast.BoolOp) else [node.operand]
            args = tuple(map(self.value, operands))
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
