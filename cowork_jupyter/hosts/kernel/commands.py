"""The sub-commands of `%cowork`."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...domain.errors import CoworkError
from .addressee import role_in, role_look, role_named
from .completion import COMMANDS
from .output import Note, shareable
from .problem import CellProblem
from .proposed_cells import proposed_cells
from .requests import CellRequest, fulfil, plain_words, show
from .run import ACTIVE, messages_of
from .session import Context, KernelSession, session
from .status import show_status

_NO_CONVERSATION = "This notebook has no conversation yet. Start one with %%plan or %%act."
_CONFIRM = "--confirm"
_FORMATS = (".jsonl", ".md", ".ipynb")


def command(text: str) -> Note | None:
    """Do what the line says."""
    words = _words(text)
    name = None
    if words[:1] == ["-c"] and len(words) > 1:
        name, words = words[1], words[2:]
    verb, arguments = (words[0], words[1:]) if words else ("status", [])
    verb = "help" if verb in ("-h", "--help") else verb
    do = _DO.get(verb)
    if do is None:
        raise CellProblem(f"There is no '%cowork {verb}'. See: %cowork help")
    if len(arguments) not in COMMANDS[verb].words:
        raise _misused(verb)
    with plain_words():
        return do(Command(session(), name, arguments))


def _misused(verb: str) -> CellProblem:
    return CellProblem(f"Usage: %cowork {verb} {COMMANDS[verb].arguments}".rstrip())


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise CellProblem(f"Cannot read this line: {error}.") from None


@dataclass(frozen=True)
class Command:
    """What a sub-command gets to know."""

    session: KernelSession
    name: str | None
    arguments: list[str]

    @property
    def context(self) -> Context:
        """The conversation that it is about."""
        found = self.session.find(self.name)
        if found is None and self.name:
            raise CellProblem(f"This notebook has no conversation '{self.name}' yet.")
        if found is None:
            raise CellProblem(_NO_CONVERSATION)
        return found

    def get(self, what: str) -> Any:
        """Something of that conversation."""
        return self.session.link.request("GET", f"context/{self.context['id']}/{what}")

    def jobs(self) -> list[dict[str, Any]]:
        """Its jobs, newest first."""
        return list(reversed(self.get("jobs")["items"]))


def _listed(view: str, found: Any) -> Note:
    from . import views  # brings much along that other commands need not wait for

    return Note(getattr(views, view)(found))


def _status(invocation: Command) -> None:
    show_status(invocation.session, context=invocation.session.find(invocation.name))


def _role(invocation: Command) -> Note:
    link = invocation.session.link
    role = role_named(link, invocation.arguments[0])
    confirmed = invocation.arguments[1:] == [_CONFIRM]
    if invocation.arguments[1:] and not confirmed:
        raise _misused("role")
    label = role_look(link, role).label
    context = invocation.session.open(invocation.name, role)
    if context["role"] == role == role_in(link, context):
        return Note(f"The role is **{label}**.")
    try:
        body = {"role": role, "confirm": confirmed, "cell_id": invocation.session.place.cell_id}
        link.request("POST", f"context/{context['id']}/role", body)
    except CoworkError as error:
        if error.code != "confirmation_required":
            raise
        raise CellProblem(
            "A run is in progress in this conversation, and switching the role stops it. "
            f"To do that: %cowork role {role} {_CONFIRM}"
        ) from None
    return Note(f"The role is now **{label}**.")


def _prompt(invocation: Command) -> Note:
    link = invocation.session.link
    listed = link.request("GET", "v1/system-prompts")["items"]
    if not invocation.arguments:
        context = invocation.session.find(invocation.name)
        return _listed("prompts", [listed, context["system_prompt_id"] if context else "default"])
    context = invocation.session.open(invocation.name, "actor")
    body = {
        "system_prompt_id": invocation.arguments[0],
        "cell_id": invocation.session.place.cell_id,
    }
    chosen = link.request("POST", f"context/{context['id']}/system-prompt", body)
    title = next(item["title"] for item in listed if item["id"] == chosen["system_prompt_id"])
    return _listed("prompt_chosen", title)


def _plan(invocation: Command) -> Note | None:
    if invocation.arguments:
        from .saved import plan_history

        return plan_history(invocation.session, invocation.context, invocation.arguments)
    for job in invocation.jobs():
        found = invocation.session.link.request("GET", f"jobs/{job['id']}/card")
        if found["card"]["snapshot"]["plan"]:
            show(invocation.session, job["id"])
            return None
    raise CellProblem("This conversation has no plan yet. Make one with %%plan.")


def _execute(invocation: Command) -> None:
    fulfil(invocation.session, CellRequest(role="actor", context=invocation.name))


def _cancel(invocation: Command) -> Note:
    for job in invocation.jobs():
        if job["status"] in ACTIVE:
            invocation.session.link.request("POST", f"jobs/{job['id']}/cancel")
            return Note("Stopped.")
    return Note("Nothing is running in this conversation.")


def _insert(invocation: Command) -> Note:
    """One at a time: a reply can ask the front end for one cell only."""
    proposed = proposed_cells(
        messages_of(invocation.session.link, invocation.context["id"]),
        invocation.session.notebook(),
    )
    waiting = [cell for cell in proposed if cell.call_id not in invocation.session.inserted]
    if not waiting:
        raise CellProblem("This conversation has no cell waiting to be inserted.")
    invocation.session.insert_below(waiting[0].source)
    invocation.session.inserted.add(waiting[0].call_id)
    more = f" {len(waiting) - 1} more: run this again." if waiting[1:] else ""
    return Note(f"The cell is below.{more}")


def _rollback(invocation: Command) -> Note:
    chosen = invocation.arguments[0] if invocation.arguments else _before_last_run(invocation)
    found = invocation.session.link.request("POST", f"checkpoints/{chosen}/rollback", {})
    return _listed("rolled_back", found)


def _before_last_run(invocation: Command) -> str:
    """The state before the newest run that has changed anything."""
    kept = invocation.get("checkpoints")["items"]
    changed = {point["job_id"] for point in kept if point["files"]}
    for job in invocation.jobs():
        for point in kept:
            if point["job_id"] == job["id"] and job["id"] in changed:
                return str(point["id"])
    raise CellProblem("This conversation has changed nothing, so there is nothing to roll back.")


def _history(invocation: Command) -> Note:
    return _listed("history", messages_of(invocation.session.link, invocation.context["id"]))


def _audit(invocation: Command) -> Note:
    return _listed("audit", invocation.get("audit"))


def _effects(invocation: Command) -> Note:
    """Of the newest run that did anything to data: talking about it does nothing."""
    for job in invocation.jobs():
        found = invocation.session.link.request("GET", f"jobs/{job['id']}/effects")["items"]
        if found:
            return _listed("effects", found)
    return _listed("effects", [])


def _checkpoints(invocation: Command) -> Note:
    return _listed("checkpoints", invocation.get("checkpoints")["items"])


def _expectations(invocation: Command) -> Note:
    if invocation.arguments:
        if invocation.arguments[0] not in ("--asserts", "--pandera"):
            raise _misused("expectations")
        code = invocation.get(f"expectations/export?format={invocation.arguments[0][2:]}").decode()
        invocation.session.insert_below(code)
        return Note(f"```python\n{code}```")
    from .expectations import standing

    return Note(f"```text\n{standing(invocation.get)}\n```")


def _memory(invocation: Command) -> Note:
    from .memory import change_memory

    text = change_memory(invocation.session, invocation.arguments)
    if text is None:
        raise _misused("memory")
    return Note(text)


def _rules(invocation: Command) -> Note:
    return _listed("rules", invocation.session.link.request("GET", "rules")["items"])


def _models(invocation: Command) -> Note:
    ask = invocation.session.link.request
    return _listed("models", [ask("GET", "models"), ask("GET", "models/offers")["items"]])


def _workflows(invocation: Command) -> Note:
    if invocation.arguments:
        from .saved import manage

        return manage(invocation.session, invocation.arguments)
    return _listed("workflows", invocation.session.link.request("GET", "workflows")["items"])


def _skills(invocation: Command) -> Note:
    return _listed("skills", invocation.session.link.request("GET", "skills"))


def _save(invocation: Command) -> Note:
    from .saved import save

    return save(invocation.session, invocation.context, invocation.arguments)


def _run(invocation: Command) -> None:
    from ...workflows.workflow import assigned

    name, *given = invocation.arguments
    link = invocation.session.link
    known = {each["name"]: each for each in link.request("GET", "workflows")["items"]}
    if name not in known:
        raise CellProblem(f"There is no workflow '{name}'. See: %cowork workflows")
    body: dict[str, Any] = {"parameters": assigned(known[name]["parameters"], given)}
    workflow = known[name]
    context = invocation.session.open(invocation.name or workflow["title"], workflow["role"])
    body["context_id"] = context["id"]
    job = link.request("POST", f"workflows/{name}/run", body)["job_id"]
    run = show(invocation.session, job)
    if link.kind == "kernel":
        run.wait()


def _export(invocation: Command) -> Note:
    path = Path(invocation.arguments[0]).expanduser()
    if path.suffix not in _FORMATS:
        raise CellProblem(f"The file name must end in {', '.join(_FORMATS)}.")
    body = invocation.get(f"export?format={path.suffix[1:]}")
    try:
        with path.open("xb") as file:
            file.write(body)
    except FileExistsError:
        raise CellProblem(f"{path} already exists. Choose another name.") from None
    except OSError as error:
        raise CellProblem(f"Cannot write {path}: {error.strerror}.") from None
    return Note(f"Written to `{path.name}`.")


def _init(invocation: Command) -> Note:
    if invocation.arguments not in ([], ["--show"]):
        raise _misused("init")
    body = {"show": bool(invocation.arguments), "cell_id": invocation.session.place.cell_id}
    made = invocation.session.link.request("POST", "instructions/init", body)
    what = (
        "would be written" if invocation.arguments else "is written, and agents follow it. It says"
    )
    return Note(f"`{made['path']}` {what}:\n\n````markdown\n{made['text']}\n````")


def _doctor(_: Command) -> Note:
    """The command line's own, in a process of its own: one doctor, one opinion."""
    program = "import sys; from cowork_jupyter.hosts.cli.app import main; main(['doctor'])"
    done = subprocess.run(  # noqa: S603 (our own program)
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    found = shareable(done.stdout.strip() or done.stderr.strip())
    return Note(f"```text\n{found}\n```")


def _help(_: Command) -> Note:
    rows = [
        _usage(f"%cowork {name if name != 'status' else ''} {usage.arguments}".strip(), usage.help)
        for name, usage in COMMANDS.items()
    ]
    rows.append("%cowork -c NAME …".ljust(28) + "any of these, for the conversation of that name")
    cells = [
        "%%plan [-c NAME] [-m MODEL] [--wait]",
        "".ljust(28) + "make a plan for the goal in the cell; read-only",
        "%%act [-c NAME] [-m MODEL] [--wait] [--policy FILE]",
        "".ljust(28) + "do what it says; an empty cell executes the plan",
        "%%ask [ROLE] [-c NAME] [-m MODEL] [--wait]",
        "".ljust(28) + "continue in the current role, or in another one",
    ]
    return Note("```text\n" + "\n".join([*cells, "", *rows]) + "\n```")


def _usage(command: str, says: str) -> str:
    """In one line, if the command leaves room for it."""
    return command.ljust(28) + says if len(command) < 28 else f"{command}\n{'':28}{says}"


_DO: dict[str, Callable[[Command], Note | None]] = {
    "status": _status,
    "role": _role,
    "prompt": _prompt,
    "plan": _plan,
    "execute": _execute,
    "cancel": _cancel,
    "insert": _insert,
    "rollback": _rollback,
    "history": _history,
    "audit": _audit,
    "effects": _effects,
    "checkpoints": _checkpoints,
    "expectations": _expectations,
    "memory": _memory,
    "rules": _rules,
    "models": _models,
    "workflows": _workflows,
    "skills": _skills,
    "run": _run,
    "save": _save,
    "export": _export,
    "init": _init,
    "doctor": _doctor,
    "help": _help,
}
