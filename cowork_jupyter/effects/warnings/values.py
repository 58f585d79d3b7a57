"""Values of a program: expressions in which each name is replaced by what it was bound to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

NO_CONSTANT = object()
_MAX_DEPTH = 4
_MAX_ITEMS = 10_000


@dataclass(eq=False)
class Value:
    op: str
    """`constant`, `global`, `path` (of a module), `call`, `method`, `attribute`, `index`, `item`,
    `set` (a container with another content), `compare`, `operator`, `list`, `dict`, `loop`, …
    """
    name: str = ""
    base: Value | None = None
    args: tuple[Value, ...] = ()
    keywords: Mapping[str, Value] = field(default_factory=dict)
    constant: object = NO_CONSTANT
    line: int | None = None
    """None for what ran earlier than the code in question."""
    loops: tuple[Value, ...] = ()
    """Enclosing loops, the outermost first."""

    @property
    def short(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def text(self) -> str | None:
        return self.constant if isinstance(self.constant, str) else None

    @property
    def known(self) -> bool:
        return self.constant is not NO_CONSTANT

    def keyword(self, name: str, place: int | None = None) -> Value | None:
        if name in self.keywords:
            return self.keywords[name]
        return self.args[place] if place is not None and place < len(self.args) else None

    def is_true(self, name: str) -> bool:
        given = self.keywords.get(name)
        return given is not None and given.constant is True

    def parts(self) -> Iterator[Value]:
        if self.base is not None:
            yield self.base
        yield from self.args
        yield from self.keywords.values()

    def ancestry(self) -> Iterator[Value]:
        """Itself, and everything it is made of."""
        seen: set[int] = set()
        waiting = [self]
        while waiting:
            value = waiting.pop()
            if id(value) not in seen:
                seen.add(id(value))
                yield value
                waiting.extend(value.parts())

    def is_made_of(self, part: Value) -> bool:
        return any(ancestor is part for ancestor in self.ancestry())

    def chain(self) -> Iterator[Value]:
        """Itself, its receiver, the receiver of that, and so on."""
        value: Value | None = self
        while value is not None:
            yield value
            value = value.base


def texts_of(value: Value | None) -> list[str] | None:
    """A string or a list of strings as a list; None if it is something else."""
    if value is None:
        return None
    if value.text is not None:
        return [value.text]
    if value.op == "list":
        found = [arg.text for arg in value.args]
        return [text for text in found if text is not None] if None not in found else None
    return None


def constant_of(value: Value | None, depth: int = 0) -> object:
    """The constant it is, lists and dictionaries of constants included; else NO_CONSTANT."""
    if value is None or depth > _MAX_DEPTH:
        return NO_CONSTANT
    if value.op == "list":
        found = [constant_of(arg, depth + 1) for arg in value.args]
        return NO_CONSTANT if NO_CONSTANT in found else found
    if value.op == "dict":
        keys, held = (
            [constant_of(pair.args[side], depth + 1) for pair in value.args] for side in (0, 1)
        )
        if NO_CONSTANT in held or not all(isinstance(key, str | int | float) for key in keys):
            return NO_CONSTANT
        return dict(zip(keys, held, strict=True))
    if value.op == "call" and value.short in ("Timestamp", "to_datetime", "Path") and value.args:
        return constant_of(value.args[0])
    if value.op == "operator" and value.name == "Mult" and len(value.args) == 2:
        items, times = (constant_of(arg, depth + 1) for arg in value.args)
        if isinstance(items, list) and isinstance(times, int) and len(items) * times <= _MAX_ITEMS:
            return items * times
    if value.op == "operator" and value.name == "USub" and value.args:
        number = value.args[0].constant
        return -number if isinstance(number, int | float) else NO_CONSTANT
    return value.constant
