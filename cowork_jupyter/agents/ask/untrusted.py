"""Warns the user about calls that may follow untrusted text which an agent has just read.

It matters where a call can send data out, and where the text itself names what the call is about.
Found by plain comparison of texts; nothing a model says goes into it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from ...domain.messages import Message, TextData, ToolResultData
from ...policy.calls import KERNEL_TOOLS, CallPart, ProposedCall
from ...policy.shell import CommandEffect
from ...policy.visible import visible
from ...store import Store

_MAX_MESSAGES = 300
_MAX_SOURCES = 3
_MIN_NAME_LENGTH = 4
_OWN_WORDS = frozenset({
    "create_file", "update_file", "delete_file", "create_notebook", "insert_cell", "edit_cell",
    "move_cell", "delete_cell", "list_directory", "get_file_info", "find_tools",
})  # fmt: skip
"""Tools whose results consist of our words and names."""
_SOURCES = {
    "execute_command": "the output of a command",
    "run_code": "the output of code",
    "run_cell": "the output of a cell",
}
_HOST = re.compile(r"\b[a-z][a-z0-9+.-]{1,10}://(?:[^\s/@'\"]*@)?([\w.-]+)", re.IGNORECASE)
_SENDING_CODE = re.compile(
    r"\w://|\b(?:requests|httpx|aiohttp|urllib3?|socket|smtplib|ftplib|paramiko|boto3|http\.client)\b"
)


@dataclass(frozen=True)
class _Recent:
    results: list[Message] = field(default_factory=list)
    wanted: str = ""


def warning_about(call: ProposedCall, code: str, store: Store, context_id: str) -> str | None:
    """The warning for a call that the user is asked about, or None.

    `code` is what it would run in a kernel.
    """
    recent = _recent(store, context_id)
    if not recent.results:
        return None
    for name in _names(call, code):
        sources = [result for result in recent.results if _is_named(name, result, recent)]
        if sources:
            warning = f"Untrusted text was read just before, and it names {name}"
            return visible(f"{warning}: {_list_sources(sources)}.")
    if not _sends(call, code):
        return None
    warning = "Untrusted text was read just before, and this can send data out"
    return visible(f"{warning}: {_list_sources(recent.results)}.")


def _recent(store: Store, context_id: str) -> _Recent:
    """Of all tasks, because one may act on what another has read. Answers to an agent's questions
    are no new beginning: whoever misleads it could make it ask.
    """
    results: list[Message] = []
    for message in islice(store.newest_messages(context_id), _MAX_MESSAGES):
        data = message.data
        if message.role == "user" and isinstance(data, TextData) and not data.answer:
            return _Recent(results, "" if data.prompt else message.text)
        if isinstance(data, ToolResultData) and data.ok and data.tool not in _OWN_WORDS:
            results.append(message)
    return _Recent(results)


def _sends(call: ProposedCall, code: str) -> bool:
    if call.tool in KERNEL_TOOLS and _SENDING_CODE.search(code):
        return True
    return bool(call.parameters.get("needs_network")) or any(map(_part_sends, call.parts))


def _part_sends(part: CallPart) -> bool:
    """A foreign tool tells its server whatever it is called with."""
    effects = part.command.effects if part.command else frozenset[CommandEffect]()
    return bool(part.fingerprint or effects & {CommandEffect.NETWORK, CommandEffect.INSTALLS})


def _names(call: ProposedCall, code: str) -> Iterator[str]:
    texts = [
        code,
        *(parameter for parameter in call.parameters.values() if isinstance(parameter, str)),
    ]
    yield from dict.fromkeys(host for text in texts for host in _HOST.findall(text))
    for part in call.parts:
        if part.command and len(part.command.words) > 1:
            yield part.command.text
        elif part.target and (not part.deny_only or Path(part.target.real).is_file()):
            yield part.target.spelled.rpartition("/")[2]


def _is_named(name: str, result: Message, recent: _Recent) -> bool:
    """Whether the text names it; not if the text is about it anyway, or the user has named it."""
    assert isinstance(result.data, ToolResultData)
    own = [path.rpartition("/")[2] for path in result.data.facts.paths]
    if len(name) < _MIN_NAME_LENGTH or name in own or name in recent.wanted:
        return False
    pattern = rf"(?<![\w-]){re.escape(name)}(?![\w-])"
    return name in result.text and re.search(pattern, result.text) is not None


def _list_sources(results: Sequence[Message]) -> str:
    sources = dict.fromkeys(source for result in results for source in _sources(result))
    names = list(sources)[:_MAX_SOURCES]
    more = len(sources) - len(names)
    return ", ".join([*names, f"{more} more"] if more else names)


def _sources(result: Message) -> list[str]:
    assert isinstance(result.data, ToolResultData)
    tool = result.data.tool
    return result.data.facts.paths or [_SOURCES.get(tool, f"an answer from {tool}")]
