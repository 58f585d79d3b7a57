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
from ..new_file import write_new_file
from .completion import COMMANDS
from .conversations import proposed_cells, role_look, role_named
from .link import CellProblem
from .output import Note, shareable, show_status, usage_error
from .requests import CellRequest, readable_errors, send_request, show
from .run import ACTIVE, messages_of
from .session import Context, KernelSession, session

_NO_CONVERSATION = "This notebook has no conversation yet. Start one with %%plan or %%act."
_CONFIRM = "--confirm"
_FORMATS = (".jsonl", ".md", ".ipynb")


def command(text: str) -> Note | None:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise CellProblem(f"Cannot read this line: {error}.") from None
    name = None
    if words[:1] == ["-c"] and len(words) > 1:
        name, words = words[1], words[2:]
    verb, arguments = (words[0], words[1:]) if words else ("status", [])
    verb = "help" if verb in ("-h", "--help") else verb
    do = _HANDLERS.get(verb)
    if do is None:
        raise CellProblem(f"There is no '%cowork {verb}'. See: %cowork help")
    if len(arguments) not in COMMANDS[verb].words:
        raise usage_error(verb)
    with readable_errors():
        return do(Command(session(), name, arguments))


@dataclass(frozen=True)
class Command:
    session: KernelSession
    name: str | None
    arguments: list[str]

    @property
    def context(self) -> Context:
        context = self.session.find(self.name)
        if context is None and self.name:
            raise CellProblem(f"This notebook has no conversation '{self.name}' yet.")
        if context is None:
            raise CellProblem(_NO_CONVERSATION)
        return context

    def request(self, method: str, path: str, body: Any = None) -> Any:
        return self.session.link.request(method, path, body)

    def get(self, what: str) -> Any:
        return self.request("GET", f"context/{self.context['id']}/{what}")

    def jobs(self) -> list[dict[str, Any]]:
        """Newest first."""
        return list(reversed(self.get("jobs")["items"]))


def _render(view: str, answer: Any) -> Note:
    from . import views  # slow to import

    return Note(getattr(views, view)(answer))


def _role(call: Command) -> Note:
    link = call.session.link
    role = role_named(link, call.arguments[0])
    confirmed = call.arguments[1:] == [_CONFIRM]
    if call.arguments[1:] and not confirmed:
        raise usage_error("role")
    label = role_look(link, role).label
    context = call.session.open(call.name, role)
    if context["role"] == role:
        return Note(f"The role is **{label}**.")
    try:
        body = {"role": role, "confirm": confirmed, "cell_id": call.session.place.cell_id}
        link.request("POST", f"context/{context['id']}/role", body)
    except CoworkError as error:
        if error.code != "confirmation_required":
            raise
        raise CellProblem(
            "A run is in progress in this conversation, and switching the role stops it. "
            f"To do that: %cowork role {role} {_CONFIRM}"
        ) from None
    return Note(f"The role is now **{label}**.")


def _prompt(call: Command) -> Note:
    link = call.session.link
    listed = link.request("GET", "v1/system-prompts")["items"]
    if not call.arguments:
        context = call.session.find(call.name)
        return _render("prompts", [listed, context["system_prompt_id"] if context else "default"])
    context = call.session.open(call.name, "actor")
    body = {"system_prompt_id": call.arguments[0], "cell_id": call.session.place.cell_id}
    chosen = link.request("POST", f"context/{context['id']}/system-prompt", body)
    title = next(item["title"] for item in listed if item["id"] == chosen["system_prompt_id"])
    return _render("prompt_chosen", title)


def _plan(call: Command) -> Note | None:
    if call.arguments:
        from .subcommands import plan_history

        return plan_history(call.session, call.context, call.arguments)
    for job in call.jobs():
        answer = call.request("GET", f"jobs/{job['id']}/card")
        if answer["card"]["snapshot"]["plan"]:
            show(call.session, job["id"])
            return None
    raise CellProblem("This conversation has no plan yet. Make one with %%plan.")


def _execute(call: Command) -> None:
    send_request(call.session, CellRequest(role="actor", context=call.name))


def _cancel(call: Command) -> Note:
    for job in call.jobs():
        if job["status"] in ACTIVE:
            call.request("POST", f"jobs/{job['id']}/cancel")
            return Note("Stopped.")
    return Note("Nothing is running in this conversation.")


def _insert(call: Command) -> Note:
    """One at a time: a reply can ask the front end for one cell only."""
    proposed = proposed_cells(
        messages_of(call.session.link, call.context["id"]), call.session.notebook()
    )
    waiting = [cell for cell in proposed if cell.call_id not in call.session.inserted]
    if not waiting:
        raise CellProblem("This conversation has no cell waiting to be inserted.")
    call.session.insert_below(waiting[0].source)
    call.session.inserted.add(waiting[0].call_id)
    more = f" {len(waiting) - 1} more: run this again." if waiting[1:] else ""
    return Note(f"The cell is below.{more}")


def _rollback(call: Command) -> Note:
    chosen = call.arguments[0] if call.arguments else _before_last_run(call)
    answer = call.request("POST", f"checkpoints/{chosen}/rollback", {})
    return _render("rolled_back", answer)


def _before_last_run(call: Command) -> str:
    """The checkpoint before the newest run that has changed anything."""
    kept = call.get("checkpoints")["items"]
    changed = {point["job_id"] for point in kept if point["files"]}
    for job in call.jobs():
        for point in kept:
            if point["job_id"] == job["id"] and job["id"] in changed:
                return str(point["id"])
    raise CellProblem("This conversation has changed nothing, so there is nothing to roll back.")


def _effects(call: Command) -> Note:
    """Of the newest run that had effects; many runs only talk."""
    for job in call.jobs():
        effects = call.request("GET", f"jobs/{job['id']}/effects")["items"]
        if effects:
            return _render("effects", effects)
    return _render("effects", [])


def _expectations(call: Command) -> Note:
    if call.arguments:
        if call.arguments[0] not in ("--asserts", "--pandera"):
            raise usage_error("expectations")
        code = call.get(f"expectations/export?format={call.arguments[0][2:]}").decode()
        call.session.insert_below(code)
        return Note(f"```python\n{code}```")
    from .subcommands import expectations_text

    return Note(f"```text\n{expectations_text(call.get)}\n```")


def _memory(call: Command) -> Note:
    from .subcommands import change_memory

    text = change_memory(call.session, call.arguments)
    if text is None:
        raise usage_error("memory")
    return Note(text)


def _models(call: Command) -> Note:
    ask = call.session.link.request
    return _render("models", [ask("GET", "models"), ask("GET", "models/offers")["items"]])


def _workflows(call: Command) -> Note:
    if call.arguments:
        from .subcommands import manage_workflow

        return manage_workflow(call.session, call.arguments)
    return _render("workflows", call.request("GET", "workflows")["items"])


def _save(call: Command) -> Note:
    from .subcommands import save_workflow

    return save_workflow(call.session, call.context, call.arguments)


def _run(call: Command) -> None:
    from ...workflows.workflow import assigned

    name, *given = call.arguments
    link = call.session.link
    workflows = {each["name"]: each for each in link.request("GET", "workflows")["items"]}
    if name not in workflows:
        raise CellProblem(f"There is no workflow '{name}'. See: %cowork workflows")
    body: dict[str, Any] = {"parameters": assigned(workflows[name]["parameters"], given)}
    workflow = workflows[name]
    context = call.session.open(call.name or workflow["title"], workflow["role"])
    body |= {"context_id": context["id"], "cell_id": call.session.place.cell_id}
    job = link.request("POST", f"workflows/{name}/run", body)["job_id"]
    run = show(call.session, job)
    if link.kind == "kernel":
        run.wait()


def _export(call: Command) -> Note:
    path = Path(call.arguments[0]).expanduser()
    if path.suffix not in _FORMATS:
        raise CellProblem(f"The file name must end in {', '.join(_FORMATS)}.")
    body = call.get(f"export?format={path.suffix[1:]}")
    write_new_file(path, body)
    return Note(f"Wrote `{path.name}`.")


def _init(call: Command) -> Note:
    if call.arguments not in ([], ["--show"]):
        raise usage_error("init")
    body = {"show": bool(call.arguments), "cell_id": call.session.place.cell_id}
    instructions = call.request("POST", "instructions/init", body)
    what = "would be written" if call.arguments else "is written, and agents follow it. It says"
    return Note(f"`{instructions['path']}` {what}:\n\n````markdown\n{instructions['text']}\n````")


def _doctor(_: Command) -> Note:
    """Runs the CLI's doctor in a process of its own, so that both say the same."""
    program = "import sys; from cowork_jupyter.hosts.cli.app import main; main(['doctor'])"
    done = subprocess.run(  # noqa: S603 (our own program)
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    report = shareable(done.stdout.strip() or done.stderr.strip())
    return Note(f"```text\n{report}\n```")


def _help(_: Command) -> Note:
    rows = [
        _usage_line(
            f"%cowork {name if name != 'status' else ''} {usage.arguments}".strip(), usage.help
        )
        for name, usage in COMMANDS.items()
    ]
    rows.append("%cowork -c NAME …".ljust(28) + "any of these, for the named conversation")
    cells = [
        "%%plan [-c NAME] [-m MODEL] [--wait]",
        "".ljust(28) + "make a plan for the goal in the cell; read-only",
        "%%act [-c NAME] [-m MODEL] [--wait] [--policy FILE]",
        "".ljust(28) + "do what it says; an empty cell executes the plan",
        "%%ask [ROLE] [-c NAME] [-m MODEL] [--wait]",
        "".ljust(28) + "continue in the current role, or in another one",
    ]
    return Note("```text\n" + "\n".join([*cells, "", *rows]) + "\n```")


def _usage_line(command: str, says: str) -> str:
    return command.ljust(28) + says if len(command) < 28 else f"{command}\n{'':28}{says}"


_HANDLERS: dict[str, Callable[[Command], Note | None]] = {
    "status": lambda call: show_status(call.session, context=call.session.find(call.name)),
    "role": _role,
    "prompt": _prompt,
    "plan": _plan,
    "execute": _execute,
    "cancel": _cancel,
    "insert": _insert,
    "rollback": _rollback,
    "history": lambda call: _render("history", messages_of(call.session.link, call.context["id"])),
    "audit": lambda call: _render("audit", call.get("audit")),
    "effects": _effects,
    "checkpoints": lambda call: _render("checkpoints", call.get("checkpoints")["items"]),
    "expectations": _expectations,
    "memory": _memory,
    "rules": lambda call: _render("rules", call.request("GET", "rules")["items"]),
    "models": _models,
    "workflows": _workflows,
    "skills": lambda call: _render("skills", call.request("GET", "skills")),
    "run": _run,
    "save": _save,
    "export": _export,
    "init": _init,
    "doctor": _doctor,
    "help": _help,
}
