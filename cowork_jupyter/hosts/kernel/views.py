"""Lists for `%cowork …` and `Cowork`, as Markdown."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import Any

from ...record.audit import Audit
from ...record.card_model import EffectSummary
from ...record.export import audit_sections, effect_lines
from ...record.markdown import code, line, table
from .output import short
from .run import text_of

Item = dict[str, Any]


def history(messages: Iterable[Item]) -> str:
    rows = [
        [
            _time(message["created_at"]),
            _speaker(message),
            message["message_type"].replace("_", " "),
            _gist(message),
        ]
        for message in messages
    ]
    return _table_or(["Time", "Who", "What", ""], rows, "This conversation has no messages yet.")


def audit(answer: Item) -> str:
    """As it is exported."""
    sections = audit_sections(Audit.model_validate(answer))
    text = "\n\n".join(f"**{title}**\n\n{text}" for title, text in sections)
    return text or "This conversation has no plan yet."


def effects(items: Iterable[Item]) -> str:
    summaries = map(EffectSummary.model_validate, items)
    lines = [text for summary in summaries for text in effect_lines(summary)]
    return "\n".join(lines) or "No run of this conversation has changed a table."


def checkpoints(items: Iterable[Item]) -> str:
    rows = [
        [code(item["id"]), _time(item["created_at"]), short(item["label"]), _codes(item["files"])]
        for item in items
    ]
    head = ["Checkpoint", "Time", "Before", "Files"]
    return _table_or(head, rows, "This conversation has no checkpoints yet.")


OVERWRITE = "To roll it back anyway: `Cowork().rollback(CHECKPOINT, overwrite=[PATH])`"


def rolled_back(answer: Item) -> str:
    partly = {each["path"] for each in answer.get("partly", [])}
    whole = [path for path in answer["restored"] if path not in partly]
    parts = [
        f"Restored: {_codes(whole)}" if whole else "",
        *(
            f"Restored in part: {code(each['path'])}, {line(each['why'])}"
            for each in answer.get("partly", [])
        ),
        f"Removed: {_codes(answer['removed'])}" if answer["removed"] else "",
        *(
            f"Stayed as it is: {code(each['path'])}, {line(each['why'])}"
            for each in answer["skipped"]
        ),
        OVERWRITE if any(each.get("can_overwrite") for each in answer["skipped"]) else "",
        *map(line, answer.get("notes", [])),
    ]
    text = "\n".join(f"- {part}" for part in parts if part) or "There was nothing to change."
    undo = answer.get("checkpoint_id")
    back = f"\n\nTo undo this: `%cowork rollback {undo}`" if undo else ""
    return f"**Rolled back.**\n\n{text}{back}"


def prompts(found: tuple[Iterable[Item], str]) -> str:
    items, chosen = found
    rows = [
        [
            "✓" if item["id"] == chosen else "",
            code(item["id"]),
            short(item["title"]),
            item["source"] if item["trusted"] else f"{item['source']}, not trusted yet",
        ]
        for item in items
    ]
    return _table_or(["", "Prompt", "Title", "From"], rows, "")


def prompt_chosen(title: str) -> str:
    return f"From the next message on, the base prompt is **{short(title)}**."


def rules(items: Iterable[Item]) -> str:
    rows = [[item["effect"], code(item["rule"]), item["scope"], _caveat(item)] for item in items]
    return _table_or(
        ["", "Rule", "Where", ""],
        rows,
        "There are no rules, so anything that changes something asks.",
    )


def _caveat(rule: Item) -> str:
    if rule.get("problem"):
        return line(str(rule["problem"]))
    return "" if rule.get("active", True) else "applies once you trust this folder"


def models(found: tuple[Item, list[Item]]) -> str:
    connected, offers = found
    currency = str(connected["currency"])
    rows = [
        [code(item["name"]), _tokens(item), _price(item["price"], currency), _use(item)]
        for item in connected["items"]
    ]
    rows += [
        [
            code(model["name"]),
            _tokens(model),
            "",
            f"{line(server['label'])} runs here but is not connected",
        ]
        for server in offers
        for model in server["models"]
    ]
    text = _table_or(
        ["Model", "Tokens", "Per million tokens", ""], rows, "The connected server has no models."
    )
    return f"{text}\n\nTo use one, run %cowork or open the Cowork panel." if offers else text


def _use(model: Item) -> str:
    uses = {"configured": "default", "small": "summaries and completions"}
    return ", ".join(use for name, use in uses.items() if model[name])


def _price(price: Item | None, currency: str) -> str:
    """With its date, as prices change."""
    if price is None:
        return ""
    as_of = f" ({line(price['as_of'])})" if price["as_of"] else ""
    return f"{price['input']:g} {line(currency)} in, {price['output']:g} out{as_of}"


def _tokens(model: Item) -> str:
    return f"{model['context_size']:,}" if model["context_size"] else ""


def workflows(items: Iterable[Item]) -> str:
    rows = [
        [code(item["name"]), short(item["description"]), _parameters(item["parameters"])]
        for item in items
    ]
    return _table_or(["Workflow", "", "Parameters"], rows, "There are no workflows.")


def skills(answer: Item) -> str:
    rows = [
        [code(item["name"]), short(item["description"]), item["source"], _skill_state(item)]
        for item in answer["items"]
    ]
    listed = _table_or(["Skill", "", "From", ""], rows, "There are no skills.")
    return "\n\n".join([listed, *(line(problem["message"]) for problem in answer["problems"])])


def _skill_state(item: Item) -> str:
    if not item["trusted"]:
        return "not trusted yet: see the Cowork panel"
    if not item["enabled"]:
        return "off"
    return f"last used {item['last_used'][:10]}" if item["last_used"] else ""


def saved_workflow(saved: Item, offered: Iterable[Item]) -> str:
    parameters = saved["template"]["parameters"]
    call = [f"{each['name']}={shlex.quote(each['example'] or '')}" for each in parameters]
    run = " ".join(["%cowork run", saved["name"], *call])
    parts = [f"**Saved.** To use it: {code(run)}"]
    values = {parameter["example"] for parameter in parameters}
    rest = [
        [code(offer["name"]), code(offer["value"])]
        for offer in offered
        if offer["value"] not in values
    ]
    if rest:
        again = f"%cowork save {saved['name']} NAME … --replace"
        parts += [f"What else could vary, with {code(again)}:", table(["Name", "Now"], rest)]
    return "\n\n".join(parts)


_BY = {"planner": "Planner", "person": "You", "workflow": "Workflow"}


def revisions(items: Sequence[Item]) -> str:
    rows = [
        [
            str(item["revision"]),
            _time(item["made_at"]),
            _BY[str(item["by"])],
            line(item["change"] or "made"),
        ]
        for item in items
    ]
    listed = table(["Revision", "Time", "Who", "What"], rows)
    hint = "Compare two: `%cowork plan --history N M`. Restore one: `%cowork plan --restore N`."
    return f"{listed}\n\n{hint}" if rows[1:] else listed


_CHANGES = {"added": "+", "removed": "−", "changed": "~", "moved": "↕"}


def comparison(answer: Item) -> str:
    revisions = f"{answer['from_revision']} → {answer['to_revision']}"
    head = f"**Revision {revisions}**: {line(answer['summary'])}"
    lines = [_field_change(field) for field in answer["fields"]]
    for step in answer["steps"]:
        mark = _CHANGES[step["change"]]
        lines.append(f"- {mark} {step['number']}. {line(step['action'])} ({step['change']})")
        lines += [f"  {_field_change(field)}" for field in step["fields"]]
    return "\n".join([head, "", *lines]).rstrip()


def _field_change(item: Item) -> str:
    before, after = line(item["before"]) or "–", line(item["after"]) or "–"
    return f"- {item['field']}: ~~{before}~~ → {after}"


def _parameters(schema: Item) -> str:
    required = set(schema.get("required", []))
    names = schema.get("properties", {})
    return ", ".join(code(f"{name}=…" if name in required else f"[{name}=…]") for name in names)


def _table_or(head: list[str], rows: list[list[str]], when_empty: str) -> str:
    return table(head, rows) if rows else when_empty


def _gist(message: Item) -> str:
    data, kind = message["data"], message["message_type"]
    if kind == "tool_call":
        return code(str(data.get("tool", "")))
    if kind == "tool_result":
        return short(str(data.get("summary", "")))
    if kind == "task_assignment":
        replans = "re-plan from here" if data.get("replan") else ""
        return short(replans or str((data.get("step") or {}).get("action") or text_of(message)))
    early = f" ({data['cut']})" if kind == "text" and data.get("cut") else ""
    gist = text_of(message) or str(data.get("goal") or data.get("question") or "")
    return short(gist) + early


def _speaker(message: Item) -> str:
    if message["message_type"] == "task_assignment":
        return "Cowork"
    if message["role"] == "user":
        return "A cell" if message["data"].get("by") in ("kernel", "policy") else "You"
    return str(message["agent_role"] or "Cowork").capitalize()


def _codes(names: Iterable[str]) -> str:
    return " ".join(code(name) for name in dict.fromkeys(names))


def _time(stamp: str) -> str:
    return stamp[:16].replace("T", " ")
