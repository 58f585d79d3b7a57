"""Longer sub-commands of `%cowork`: expectations, memory, plan revisions and workflows."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlencode

from ...domain.errors import CoworkError
from ...domain.expectations import FILE, Expectation, is_about_files
from ...effects.checking import check, expectation_text
from ...record.markdown import fenced
from ...tools.kernel.inside.checks import measure
from ...tools.kernel.state import measure_questions, parse_measured
from ...workflows import OfferedParameter, chosen_parameters
from ..new_file import write_new_file
from . import views
from .link import CellProblem
from .output import Note, usage_error
from .session import Context, KernelSession

NOTHING_PINNED = "Nothing is pinned here yet. Pin a line of the data effects on a card."
_MARKS = {True: "✓", False: "✕", None: "?"}


def expectations_text(get: Callable[[str], Any]) -> str:
    """List what is pinned and whether it holds. `get` requests a part of the conversation.

    Variables are measured here, because this very cell keeps the kernel busy for the service.
    """
    expected = [Expectation.model_validate(raw) for raw in get("expectations")["items"]]
    return "\n".join(_expectation_lines(expected, get)) or NOTHING_PINNED


def _expectation_lines(expected: list[Expectation], get: Callable[[str], Any]) -> Iterator[str]:
    variables = [expectation for expectation in expected if not is_about_files(expectation)]
    facts = parse_measured(json.loads(measure(measure_questions(variables)))) if variables else []
    here = {
        expectation.id: check(expectation, fact)
        for expectation, fact in zip(variables, facts, strict=True)
    }
    there: dict[str, Any] = {}
    if len(variables) < len(expected):
        items = get("expectations/check")["items"]
        there = {item["expectation"]["id"]: item for item in items}
    for expectation in expected:
        checked = here.get(expectation.id)
        if checked:
            yield _expectation_line(expectation, checked.met, checked.found)
        elif expectation.id in there:
            yield _expectation_line(
                expectation, there[expectation.id]["met"], there[expectation.id]["found"]
            )


def _expectation_line(expectation: Expectation, met: bool | None, difference: str) -> str:
    suffix = f" — {difference}" if difference else ""
    table = expectation.of.removeprefix(FILE)
    return f"{_MARKS[met]} {table}: {expectation_text(expectation)}{suffix}"


_DO_IT = "Keep it: `%cowork memory --keep`. Discard it: `%cowork memory --drop`."
NOTHING_REMEMBERED = "Nothing is remembered about this workspace yet."


def change_memory(session: KernelSession, arguments: list[str]) -> str | None:
    """Apply the arguments and return the new state; None if they are invalid."""
    link, cell_id = session.link, session.place.cell_id
    memory = link.request("GET", "memory")
    match arguments:
        case []:
            return _memory_overview(memory)
        case ["--keep"] | ["--drop"]:
            if not memory["proposals"]:
                raise CellProblem("There is nothing new to remember.")
            proposal = memory["proposals"][0]
            body = {"decision": arguments[0][2:], "fingerprint": proposal["fingerprint"]}
            address = f"jobs/{proposal['job_id']}/memory"
            return _memory_overview(link.request("POST", address, {**body, "cell_id": cell_id}))
        case ["--forget", *words]:
            parameters = {"text": " ".join(words), "cell_id": cell_id or ""}
            query = urlencode({name: value for name, value in parameters.items() if value})
            return _memory_overview(
                link.request("DELETE", f"memory?{query}" if query else "memory")
            )
    return None


def _memory_overview(memory: dict[str, Any]) -> str:
    parts = [fenced(memory["text"], "markdown") if memory["text"] else NOTHING_REMEMBERED]
    if not memory["enabled"]:
        parts.append("Memory is off: `Cowork.memory` is `off`.")
    elif not memory["trusted"]:
        parts.append("Not followed until you trust it: look at it in the Cowork panel.")
    proposals = memory["proposals"]
    if proposals:
        older = len(proposals) - 1
        more = " 1 older run has more." if older == 1 else f" {older} older runs have more."
        parts += ["**Remember this?**", fenced(proposals[0]["diff"], "diff")]
        parts.append(_DO_IT + (more if older else ""))
    return "\n\n".join(parts)


class _SaveParser(ArgumentParser):
    def error(self, message: str) -> NoReturn:  # noqa: ARG002
        raise usage_error("save")


_save_options = _SaveParser(add_help=False, prog="%cowork save", allow_abbrev=False)
_save_options.add_argument("name")
_save_options.add_argument("parameters", nargs="*")
_save_options.add_argument("--title", default="")
_save_options.add_argument("--describe", default="")
_save_options.add_argument("--replace", action="store_true")


def save_workflow(session: KernelSession, context: Context, words: list[str]) -> Note:
    options = _save_options.parse_intermixed_args(words)
    about = f"context/{context['id']}"
    parameters = session.link.request("GET", f"{about}/plan/parameters")["items"]
    offers = [OfferedParameter.model_validate(parameter) for parameter in parameters]
    body = {
        "name": options.name,
        "title": options.title,
        "description": options.describe,
        "parameters": chosen_parameters(options.parameters, offers),
        "context_id": context["id"],
        "replace": options.replace,
        "cell_id": session.place.cell_id,
    }
    try:
        saved = session.link.request("POST", "workflows", body)
    except CoworkError as error:
        if error.code != "name_taken":
            raise
        raise CellProblem(f"{error.message} To replace your own: --replace") from None
    return Note(views.saved_workflow(saved, parameters))


def manage_workflow(session: KernelSession, words: list[str]) -> Note:
    match words:
        case ["edit", name, _, *_]:
            return _edit_workflow(session, name, words[2:])
        case ["share", name]:
            body = {"cell_id": session.place.cell_id}
            path = session.link.request("POST", f"workflows/{name}/share", body)["path"]
            return Note(f"Shared as `{path}`. Others can use it once they have trusted it.")
        case ["share", name, file]:
            return _write_file(session.link.request("GET", f"workflows/{name}/file"), file)
        case ["delete", name]:
            cell = session.place.cell_id
            query = f"?cell_id={cell}" if cell else ""
            session.link.request("DELETE", f"workflows/{name}{query}")
            return Note(f"Deleted `{name}`.")
    raise usage_error("workflows")


def _edit_workflow(session: KernelSession, name: str, words: list[str]) -> Note:
    """`title=` and `description=` are the workflow's; other names set a parameter's default."""
    workflows = {item["name"]: item for item in session.link.request("GET", "workflows")["items"]}
    template = (workflows.get(name) or {}).get("template")
    if template is None:
        raise CellProblem(f"You have no workflow '{name}' to edit. See: %cowork workflows")
    body: dict[str, Any] = {"cell_id": session.place.cell_id}
    parameters = {parameter["name"]: parameter for parameter in template["parameters"]}
    for word in words:
        key, _, value = word.partition("=")
        if key in ("title", "description"):
            body[key] = value
        elif key in parameters:
            parameters[key]["default"] = value or None
            body["parameters"] = list(parameters.values())
        else:
            names = ", ".join(["title", "description", *parameters])
            raise CellProblem(f"'{key}' is not one of: {names}.")
    session.link.request("PUT", f"workflows/{name}", body)
    return Note(f"Changed `{name}`.")


def _write_file(data: bytes, file: str) -> Note:
    path = Path(file).expanduser()
    write_new_file(path, data)
    return Note(f"Wrote `{path.name}`. It belongs in a workspace's .cowork/workflows.")


def plan_history(session: KernelSession, context: Context, words: list[str]) -> Note:
    about, ask = f"context/{context['id']}/plan", session.link.request
    match words[0], _numbers(words[1:]):
        case "--history", []:
            return Note(views.revisions(ask("GET", f"{about}/revisions")["items"]))
        case "--history", [to]:
            return Note(views.comparison(ask("GET", f"{about}/compare?to={to}")))
        case "--history", [first, to]:
            return Note(views.comparison(ask("GET", f"{about}/compare?from={first}&to={to}")))
        case "--restore", [revision]:
            body = {"revision": revision, "cell_id": session.place.cell_id}
            now = ask("POST", f"{about}/restore", body)["revision"]
            return Note(f"Restored revision {revision} as revision {now}.")
    raise usage_error("plan")


def _numbers(words: list[str]) -> list[int]:
    if not all(word.isdecimal() for word in words):
        raise usage_error("plan")
    return [int(word) for word in words]
