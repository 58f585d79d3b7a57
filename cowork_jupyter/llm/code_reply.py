"""Code as a reply: one fenced Python block stands for a call of `run_code`.

Small models write code in a fence far better than inside JSON. The code is parsed before anything
is asked or run, so that a typo costs no approval.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Collection
from dataclasses import dataclass, replace

from pydantic import ValidationError

from ..domain.replies import ToolCall, ToolCalls
from ..domain.user_code import as_python
from ..domain.usual_imports import missing_imports
from .reply import Reply
from .scanners import PYTHON
from .structured import MalformedReply, load_object

RUN_CODE = "run_code"
MAX_LEAD = 300
"""Longer text before a block means that it is an explanation with an example."""

_FENCE = re.compile(r"^(?P<ticks>`{3,})[ \t]*(?P<language>[^\s`]*)[^\n`]*\n", re.MULTILINE)
_TAGGED = re.compile(r"<tool_call>\s*(\{.*?\})\s*(?:</tool_call>|$)", re.DOTALL)
_FILLED_FORMS = re.compile(r"(@\w+\[[^\]\n]*\]\s*)+")
_MAX_LINE = 120
_DOING = (ast.Call, ast.Assign, ast.Import, ast.ImportFrom, ast.Subscript)


@dataclass(frozen=True)
class FencedBlock:
    language: str
    code: str
    before: str
    after: str
    closed: bool


def only_block(text: str) -> FencedBlock | None:
    opening = _FENCE.search(text)
    if opening is None:
        return None
    rest = text[opening.end() :]
    closing = re.search(rf"^{opening['ticks']}[ \t]*$", rest, re.MULTILINE)
    code, after = (rest[: closing.start()], rest[closing.end() :]) if closing else (rest, "")
    if _FENCE.search(after):
        return None
    before = text[: opening.start()].strip()
    language = opening["language"].lower()
    return FencedBlock(language, code.rstrip(), before, after.strip(), closing is not None)


def with_code(reply: Reply, *, expected: bool) -> Reply:
    """Turn a reply whose only action is a block of Python into a call of `run_code`.

    `expected`: the prompt asks for blocks, so the text around one is ignored. Otherwise only a
    short lead may precede the block and nothing may follow it, since an answer may show code, too.
    """
    if reply.structured or reply.problem:
        return reply
    block = only_block(reply.text)
    if block is None or not block.code.strip() or not _is_python(block):
        return reply
    if not expected and (block.after or len(block.before) > MAX_LEAD):
        return reply
    if _FILLED_FORMS.fullmatch(block.code):  # an answer, not Python
        return replace(reply, text=block.code)
    if reply.cut and not block.closed:
        return replace(reply, problem="The code was cut off before its end, and not run.")
    if problem := syntax_problem(block.code):
        return replace(reply, problem=problem)
    code = _with_imports(block.code) if expected else block.code
    call = ToolCall(tool=RUN_CODE, parameters={"code": code})
    return replace(reply, text=block.before, structured=ToolCalls(tools=[call]))


def _with_imports(code: str) -> str:
    """Small models forget them, which would cost an approval and a turn."""
    if code.lstrip().startswith(("%%", "from __future__")):  # which must come first
        return code
    return "\n".join([*missing_imports(_parsed(code)), code])


def with_tagged_calls(reply: Reply, tools: Collection[str]) -> Reply:
    """Extract calls that the server left in the text.

    Many models are trained to write `<tool_call>{"name", "arguments"}</tool_call>`.
    """
    if reply.structured or reply.problem or reply.cut:
        return reply
    candidates = [_tagged_call(match[1], tools) for match in _TAGGED.finditer(reply.text)]
    calls = [call for call in candidates if call]
    if not calls:
        return reply
    text = _TAGGED.sub("", reply.text).strip()
    return replace(reply, text=text, structured=ToolCalls(tools=calls))


def _tagged_call(source: str, tools: Collection[str]) -> ToolCall | None:
    try:
        value = load_object(source)
        if value.get("name") not in tools:
            return None
        return ToolCall(tool=value["name"], parameters=value.get("arguments") or {})
    except (MalformedReply, ValidationError):
        return None


def syntax_problem(code: str) -> str | None:
    try:
        _parsed(code)
    except SyntaxError as error:
        number = min(error.lineno or 1, code.count("\n") + 1)
        line = code.split("\n")[number - 1].strip()[:_MAX_LINE]
        return f"The code was not run. {error.msg} in line {number}: {line}"
    except ValueError as error:  # some versions of Python raise it for null bytes
        return f"The code was not run. {error}"
    except (RecursionError, MemoryError):
        return "The code was not run: Python cannot read it."
    return None


def _is_python(block: FencedBlock) -> bool:
    """A block without a language must parse as Python that does something."""
    if block.language:
        return block.language in PYTHON
    try:
        tree = _parsed(block.code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(isinstance(node, _DOING) for node in ast.walk(tree))


def _parsed(code: str) -> ast.Module:
    try:
        return _tree(code)
    except SyntaxError:
        # IPython lines (`%magic`, `!command`) are allowed.
        plain = as_python(code)
        if plain is None or plain == code:
            raise
        return _tree(plain)


def _tree(code: str) -> ast.Module:
    with warnings.catch_warnings():  # such as invalid escapes
        warnings.simplefilter("ignore")
        flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        tree: ast.Module = compile(code, "<reply>", "exec", flags)
    return tree
