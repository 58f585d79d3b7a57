"""Lists for `%cowork …` and `Cowork`, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..domain.figures import Assumption
from ..record.markdown import assumption, code, line, table
from .run import text_of

Item = dict[str, Any]
_MAX_WORDS = 120
_MARKS = {"completed": "✓", "failed": "✗", "skipped": "–"}


def history(messages: Iterable[Item]) -> str:
    """Who said what, a line each."""
    rows = [
        [
            _time(message["created_at"]),
            _speaker(message),
            message["message_type"].replace("_", " "),
            _gist(message),
        ]
        for message in messages
    ]
    return _listed(["Time", "Who", "What", ""], rows, "This conversation has no messages yet.")


def audit(found: Item) -> str:
    """Each step as planned and as it went, and what the words of the run rest on."""
    rows = [
        [
            f"{_MARKS.get(step['status'], '·')} {step['number']}",
            _short(step["action"]),
            _codes(step["planned"]["tools"] + step["planned"]["files"]),
            _codes([one["tool"] for one in step["actual"]["tools"]] + step["actual"]["files"]),
            "; ".join(_short(one["what"]) for one in step["deviations"]) or "as planned",
        ]
        for step in found["steps"]
    ]
    head = ["", "Step", "Planned", "What happened", "Different from the plan"]
    figures = dict.fromkeys(line(one["text"]) for one in found["figures"])
    assumed = [assumption(Assumption.model_validate(one)) for one in found["assumptions"]]
    parts = [
        _listed(head, rows, "This conversation has no plan yet."),
        f"Not found in any output: {', '.join(figures)}" if figures else "",
        "\n".join(["Assumptions:\n", *(f"- {one}" for one in assumed)]) if assumed else "",
    ]
    return "\n\n".join(part for part in parts if part)


def effects(items: Iterable[Item]) -> str:
    """What code did to tables, and what may be wrong about it."""
    lines: list[str] = []
    for item in items:
        said = line(item.get("line") or "")
        lines += [f"- {said}"] if said else []
        lines += [f"{'  ' if said else ''}- {_warning(one)}" for one in item.get("warnings", [])]
    return "\n".join(lines) or "No run of this conversation has changed a table."


def _warning(one: Item) -> str:
    where = f", line {one['line']}" if one.get("line") else ""
    return f"**Warning**{where}: " + line(f"{one['message']} {one.get('advice', '')}")


def checkpoints(items: Iterable[Item]) -> str:
    """States that one can go back to."""
    rows = [
        [
            code(item["id"]),
            _time(item["created_at"]),
            _short(item["label"]),
            _codes(item["files"]),
        ]
        for item in items
    ]
    head = ["Checkpoint", "Time", "Before", "Files"]
    return _listed(head, rows, "This conversation has no checkpoints yet.")


OVERWRITE = "To roll it back anyway: `Cowork().rollback(CHECKPOINT, overwrite=[PATH])`"


def rolled_back(found: Item) -> str:
    """What a rollback did."""
    parts = [
        f"Restored: {_codes(found['restored'])}" if found["restored"] else "",
        f"Removed: {_codes(found['removed'])}" if found["removed"] else "",
        *(f"Skipped: {code(one['path'])}, {line(one['why'])}" for one in found["skipped"]),
        OVERWRITE if any(one.get("can_overwrite") for one in found["skipped"]) else "",
        *map(line, found.get("notes", [])),
    ]
    text = "\n".join(f"- {part}" for part in parts if part) or "There was nothing to change."
    undo = found.get("checkpoint_id")
    back = f"\n\nTo undo this: `%cowork rollback {undo}`" if undo else ""
    return f"**Rolled back.**\n\n{text}{back}"


def prompts(found: tuple[Iterable[Item], str]) -> str:
    """The base prompts, and which of them the conversation has."""
    items, chosen = found
    rows = [
        [
            "✓" if item["id"] == chosen else "",
            code(item["id"]),
            _short(item["title"]),
            item["source"] if item["trusted"] else f"{item['source']}, not trusted yet",
        ]
        for item in items
    ]
    return _listed(["", "Prompt", "Title", "From"], rows, "")


def prompt_chosen(title: str) -> str:
    """That a conversation has another base prompt."""
    return f"From the next message on, the base prompt is **{_short(title)}**."


def rules(items: Iterable[Item]) -> str:
    """What is allowed, asked about, and denied."""
    rows = [[item["effect"], code(item["rule"]), item["scope"], _caveat(item)] for item in items]
    return _listed(
        ["", "Rule", "Where", ""],
        rows,
        "There are no rules, so anything that changes something asks.",
    )


def _caveat(rule: Item) -> str:
    if rule.get("problem"):
        return line(str(rule["problem"]))
    return "" if rule.get("active", True) else "applies once you trust this folder"


def models(found: Sequence[Iterable[Item]]) -> str:
    """The models of the connected server, and of others that run here."""
    connected, offers = found
    rows = [
        [code(one["name"]), _tokens(one), "default" if one["configured"] else ""]
        for one in connected
    ]
    rows += [
        [code(one["name"]), _tokens(one), f"{line(server['label'])} runs here but is not connected"]
        for server in offers
        for one in server["models"]
    ]
    text = _listed(["Model", "Tokens", ""], rows, "The connected server has no models.")
    return f"{text}\n\nTo use one, run %cowork or open the Cowork panel." if offers else text


def _tokens(model: Item) -> str:
    return f"{model['context_size']:,}" if model["context_size"] else ""


def workflows(items: Iterable[Item]) -> str:
    """What can be run by name, and with which parameters."""
    rows = [
        [code(item["name"]), _short(item["description"]), _parameters(item["parameters"])]
        for item in items
    ]
    return _listed(["Workflow", "", "Parameters"], rows, "There are no workflows.")


def _parameters(schema: Item) -> str:
    required = set(schema.get("required", []))
    names = schema.get("properties", {})
    return ", ".join(code(f"{name}=…" if name in required else f"[{name}=…]") for name in names)


def _listed(head: list[str], rows: list[list[str]], when_empty: str) -> str:
    return table(head, rows) if rows else when_empty


def _gist(message: Item) -> str:
    data, kind = message["data"], message["message_type"]
    if kind == "tool_call":
        return code(str(data.get("tool", "")))
    if kind == "tool_result":
        return _short(str(data.get("summary", "")))
    if kind == "task_assignment":
        replans = "re-plan from here" if data.get("replan") else ""
        return _short(replans or str((data.get("step") or {}).get("action") or text_of(message)))
    return _short(text_of(message) or str(data.get("goal") or data.get("question") or ""))


def _speaker(message: Item) -> str:
    if message["message_type"] == "task_assignment":
        return "Cowork"
    if message["role"] == "user":
        return "A cell" if message["data"].get("by") in ("kernel", "policy") else "You"
    return str(message["agent_role"] or "Cowork").capitalize()


def _short(text: str) -> str:
    words = " ".join(text.split())
    return line(words if len(words) <= _MAX_WORDS else f"{words[: _MAX_WORDS - 1]}…")


def _codes(names: Iterable[str]) -> str:
    return " ".join(code(name) for name in dict.fromkeys(names))


def _time(stamp: str) -> str:
    return stamp[:16].replace("T", " ")
