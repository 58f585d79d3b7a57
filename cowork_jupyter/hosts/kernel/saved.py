"""What `%cowork` does with plans that are kept: their revisions, and workflows made of them."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any, NoReturn

from ...domain.errors import CoworkError
from ...workflows import OfferedParameter, chosen_parameters
from . import views
from .completion import COMMANDS
from .output import Note
from .problem import CellProblem
from .session import Context, KernelSession


def _misused(verb: str) -> CellProblem:
    return CellProblem(f"Usage: %cowork {verb} {COMMANDS[verb].arguments}")


class _Options(ArgumentParser):
    def error(self, message: str) -> NoReturn:  # noqa: ARG002
        raise _misused("save")


_options = _Options(add_help=False, prog="%cowork save", allow_abbrev=False)
_options.add_argument("name")
_options.add_argument("parameters", nargs="*")
_options.add_argument("--title", default="")
_options.add_argument("--describe", default="")
_options.add_argument("--replace", action="store_true")


def save(session: KernelSession, context: Context, words: list[str]) -> Note:
    """Keep the current plan as a workflow, and say how to use it."""
    given = _options.parse_intermixed_args(words)
    about = f"context/{context['id']}"
    found = session.link.request("GET", f"{about}/plan/parameters")["items"]
    offers = [OfferedParameter.model_validate(parameter) for parameter in found]
    body = {
        "name": given.name,
        "title": given.title,
        "description": given.describe,
        "parameters": chosen_parameters(given.parameters, offers),
        "context_id": context["id"],
        "replace": given.replace,
        "cell_id": session.place.cell_id,
    }
    try:
        saved = session.link.request("POST", "workflows", body)
    except CoworkError as error:
        if error.code != "name_taken":
            raise
        raise CellProblem(f"{error.message} To replace your own: --replace") from None
    return Note(views.saved_workflow(saved, found))


def manage(session: KernelSession, words: list[str]) -> Note:
    """Edit, share or delete a workflow of the user's own."""
    match words:
        case ["edit", name, _, *_]:
            return _edit(session, name, words[2:])
        case ["share", name]:
            body = {"cell_id": session.place.cell_id}
            path = session.link.request("POST", f"workflows/{name}/share", body)["path"]
            return Note(f"Shared as `{path}`. Others can use it once they have trusted it.")
        case ["share", name, file]:
            return _write(session.link.request("GET", f"workflows/{name}/file"), file)
        case ["delete", name]:
            cell = session.place.cell_id
            query = f"?cell_id={cell}" if cell else ""
            session.link.request("DELETE", f"workflows/{name}{query}")
            return Note(f"Deleted `{name}`.")
    raise _misused("workflows")


def _edit(session: KernelSession, name: str, words: list[str]) -> Note:
    """`title=` and `description=` are the workflow's; any other name gives a default."""
    known = {item["name"]: item for item in session.link.request("GET", "workflows")["items"]}
    template = (known.get(name) or {}).get("template")
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


def _write(data: bytes, file: str) -> Note:
    path = Path(file).expanduser()
    try:
        with path.open("xb") as target:
            target.write(data)
    except FileExistsError:
        raise CellProblem(f"{path} already exists. Choose another name.") from None
    except OSError as error:
        raise CellProblem(f"Cannot write {path}: {error.strerror}.") from None
    return Note(f"Wrote `{path.name}`. It belongs in a workspace's .cowork/workflows.")


def plan_history(session: KernelSession, context: Context, words: list[str]) -> Note:
    """The revisions of the current plan, two of them compared, or one restored."""
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
    raise _misused("plan")


def _numbers(words: list[str]) -> list[int]:
    if not all(word.isdecimal() for word in words):
        raise _misused("plan")
    return [int(word) for word in words]
