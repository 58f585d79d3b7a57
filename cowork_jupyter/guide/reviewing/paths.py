"""Paths that exist on one machine only."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .subject import ReviewRemark, Subject, strings_in

_OF_ONE_MACHINE = re.compile(
    r"(?:file://)?/(?:home|Users|root|mnt|media|Volumes|content/drive|kaggle|scratch|nfs)/[^\s/]"
    r"|[A-Za-z]:[\\/]{1,2}[^\W\d][\w .-]"
    r"|\\\\[\w.-]+\\\w"
)
_EVERYWHERE = ("/dev/", "/proc/", "/sys/", "/etc/", "/tmp/", "/usr/", "/bin/", "/var/", "/opt/")  # noqa: S108
_OPENS = re.compile(
    r"^(?:read_\w+|to_\w+|scan_\w+|open|Path|savefig|load\w*|save\w*|chdir|listdir)$"
)
_IN_MAGIC = re.compile(r"(?<![\w.:/])(?:/(?:home|Users|root|mnt|media|Volumes)/\w|[A-Za-z]:\\\w)")
_MAX_SHOWN = 60


def path_remarks(subject: Subject) -> Iterator[ReviewRemark]:
    for cell, tree in subject.trees():
        opened = {id(node) for node in _opened(tree)}
        for text in strings_in(tree):
            value = str(text.value)
            rooted = id(text) in opened and value.startswith("/") and len(value) > 1
            if _OF_ONE_MACHINE.match(value) or (rooted and not f"{value}/".startswith(_EVERYWHERE)):
                excerpt = value if len(value) <= _MAX_SHOWN else f"{value[:_MAX_SHOWN]}…"
                yield ReviewRemark("minor", f"`{excerpt}` is an absolute path, which exists on one "
                             "machine only.", _ADVICE, cell, text.lineno)  # fmt: skip
    for cell in subject.code:
        for number, line in enumerate(cell.source.split("\n"), 1):
            if line.lstrip().startswith(("%", "!")) and _IN_MAGIC.search(line):
                comment = "This command names an absolute path, which exists on one machine only."
                yield ReviewRemark("minor", comment, _ADVICE, cell, number)


_ADVICE = "Use a path relative to the notebook or the project."


def _opened(tree: ast.Module) -> Iterator[ast.expr]:
    """First arguments of functions that read or write files."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else ""
        name = function.id if isinstance(function, ast.Name) else name
        if _OPENS.match(name):
            yield node.args[0]
