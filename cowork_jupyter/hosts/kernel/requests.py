"""Requests of the magics and `Cowork` to the agent, and the checks before them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import quote

from IPython.display import display
from traitlets import TraitError

from ...domain.errors import CoworkError
from ...domain.roles import AgentRole
from ...record.markdown import code
from .conversations import card_of_open_plan, jobs_of, role_in, role_named
from .link import CellProblem, Policy
from .output import NOT_SENT, CellOutput, Note, short, show_status
from .run import ACTIVE, Run
from .session import Context, KernelSession

_WORDS = {
    "job_running": "A run is still in progress in this conversation. "
    "Wait for it, or stop it with: %cowork cancel",
    "forbidden": "On a Jupyter server, code in a notebook may not do this. "
    "Do it on the card or in the Cowork panel.",
    "no_plan": "This conversation has no plan yet. Make one with %%plan.",
}

_APPROVE = (
    "Click **Execute plan** on the card in JupyterLab, or in the Cowork panel, to run this plan. "
    "A cell runs it only when you run that cell in JupyterLab yourself."
)


@contextmanager
def readable_errors() -> Iterator[None]:
    """Turn our errors into one line in the cell."""
    try:
        yield
    except CoworkError as error:
        raise CellProblem(_WORDS.get(error.code, error.message)) from None
    except TraitError as error:  # an invalid setting
        raise CellProblem(str(error)) from None


@dataclass(frozen=True)
class CellRequest:
    role: str
    text: str = ""
    """Empty to execute the current plan."""
    context: str | None = None
    model: str | None = None
    wait: bool = False
    policy: Policy | None = None
    about_plan: bool = False
    """Whether a message to a planner is about the current plan."""
    offer: bool = True
    """Whether to ask before the same text is sent a second time."""
    display: bool = True


def send_request(session: KernelSession, request: CellRequest) -> Run | None:
    """Return None if it cannot be sent now; the cell's output says why."""
    if not _is_ready(session, request):
        return None
    if request.text.strip():
        return _send_message(session, request)
    return _execute(session, request)


def role_to_ask(session: KernelSession, name: str | None, role: str | None) -> str:
    return role_named(session.link, role) if role else role_in(session.find(name))


def show(session: KernelSession, job_id: str) -> Run:
    return _make_run(session, job_id, display=True).show()


def _is_ready(session: KernelSession, request: CellRequest) -> bool:
    health = session.link.request("GET", "health")
    if not health["model"]["ready"]:
        health = session.link.request("GET", "health?fresh=true")
    model = health["model"]
    if request.model:
        health["model"] = {**model, "name": request.model}
    if model["ready"] or (request.model and _server_answers(session)):
        return True
    if not request.display:
        raise CellProblem(model["why_not"])
    show_status(session, health=health, role=request.role, goal=request.text, note=NOT_SENT)
    return False


def _server_answers(session: KernelSession) -> bool:
    """Whether the model server answers at all, although it lacks the configured model."""
    try:
        return bool(session.link.request("GET", "models")["items"])
    except CoworkError as error:
        return error.code == "forbidden"  # a kernel may not list models, but the run will tell


def _send_message(session: KernelSession, request: CellRequest) -> Run | None:
    context = session.open(request.context, request.role, request.model)
    if request.offer and (earlier := _find_same_message(session, context, request)):
        again = {"content": request.text, "role": request.role, "notebook": session.notebook()}
        return _make_run(session, earlier, display=request.display, again=again).show()
    message = {"content": request.text, "role": request.role, "model": request.model}
    message["cell_id"] = session.place.cell_id
    if request.about_plan and request.role == AgentRole.PLANNER:
        message["card_id"] = card_of_open_plan(session.link, context)
    start = partial(session.link.send, context["id"], message, request.policy)
    return _begin(session, request, context, start)


def _execute(session: KernelSession, request: CellRequest) -> Run | None:
    context = session.find(request.context)
    answer = session.link.request("GET", f"context/{context['id']}/plan") if context else {}
    if context is None or answer["plan"] is None:
        raise CellProblem(_WORDS["no_plan"])
    plan = {"plan_id": answer["plan"]["id"], "revision": answer["revision"]}
    if request.offer and (earlier := _find_execution(session, context, plan)):
        return _make_run(session, earlier, display=request.display, again=plan).show()
    approval = {**plan, "model": request.model, "cell_id": session.place.cell_id}
    start = partial(session.link.execute, context["id"], approval, request.policy)
    return _begin(session, request, context, start)


def _begin(
    session: KernelSession, request: CellRequest, context: Context, start: Callable[[], str | None]
) -> Run | None:
    """Start once the conversation is idle; a cell that does not wait says why it cannot."""
    while True:
        try:
            if job_id := start():
                return _show_started(session, request, job_id)
            return _show_awaiting_approval(session, request, context)
        except CoworkError as error:
            if error.code != "job_running" or session.link.kind == "kernel":
                raise
        if not request.wait:
            display(busy_note(session, context))
            return None
        wait_until_free(session, context)


def _show_started(session: KernelSession, request: CellRequest, job_id: str) -> Run:
    run = _make_run(session, job_id, display=request.display)
    is_here = session.link.kind == "kernel"
    # A card that is not shown could not be answered either.
    is_asked_about = session.link.is_attended and request.display
    if request.wait or (is_here and not is_asked_about):
        return run.wait()
    run.show()
    if is_here:  # without a server nothing else updates the output
        Thread(target=_follow_run, args=(run,), name="cowork-run", daemon=True).start()
    return run


def _show_awaiting_approval(session: KernelSession, request: CellRequest, context: Context) -> Run:
    """Show the plan's card, which has the button, and do not wait for a person to press it."""
    made_by = card_of_open_plan(session.link, context)
    if made_by is None:  # made by hand, or executed before
        raise CellProblem(_APPROVE.replace("**", ""))
    run = _make_run(session, made_by, display=request.display)
    run.awaits_approval = True
    run.show()
    if request.display:
        display(Note(_APPROVE))
    return run


def _make_run(
    session: KernelSession, job_id: str, *, display: bool, again: dict[str, Any] | None = None
) -> Run:
    if not display:
        return Run(session.link, job_id)
    link, output = session.link, CellOutput(session.link, session.place.attended)
    if link.kind == "kernel":  # with a server, the page updates the output
        output.on_job = lambda started: _follow_run(Run(link, started, output))
    return Run(link, job_id, output, again)


def _follow_run(run: Run) -> None:
    """Show a run that a button has started, in place of the previous one."""
    with suppress(CoworkError):
        run.wait()


def _find_same_message(
    session: KernelSession, context: Context, request: CellRequest
) -> str | None:
    """The newest job that this cell started with the same text and role.

    Without a server nobody can be asked what to do, so the cell simply runs again.
    """
    if session.link.kind == "kernel":
        return None
    for job in reversed(jobs_of(session.link, context)):
        same = job["kind"] == "message" and job["request"].strip() == request.text.strip()
        if same and job["role"] == request.role and _is_this_cell(session, job):
            return str(job["id"])
    return None


def _find_execution(session: KernelSession, context: Context, plan: dict[str, Any]) -> str | None:
    """The newest job that executes, or has executed, this revision."""
    if session.link.kind == "kernel":
        return None
    wanted = ("plan", plan["plan_id"], plan["revision"])
    for job in reversed(jobs_of(session.link, context)):
        if (job["kind"], job["plan_id"], job["plan_revision"]) == wanted:
            return str(job["id"])
    return None


def _is_this_cell(session: KernelSession, job: dict[str, Any]) -> bool:
    """Another cell may have the same text, even in an earlier notebook of this name.

    Jobs of buttons have no cell and match. Where cells have no ids, as in a console, there is no
    card to choose on either, so nothing matches.
    """
    here = session.place.cell_id
    return here is not None and job["cell_id"] in (None, here)


def wait_until_free(session: KernelSession, context: Context) -> None:
    for job in jobs_of(session.link, context):
        if job["status"] in ACTIVE:
            Run(session.link, job["id"]).wait()


def busy_note(session: KernelSession, context: Context) -> Note:
    running = next((job for job in jobs_of(session.link, context) if job["status"] in ACTIVE), None)
    if running is None:  # it has just ended
        return Note("**Nothing was sent**: a run was still in progress. Run this cell again.")
    card = session.link.request("GET", f"jobs/{running['id']}/card")["card"]
    return Note(
        f"**Nothing was sent.** {_cell_link(session, running)} {_activity_text(card)}\n\n"
        "Then run this cell again. With `--wait`, a cell waits its turn; "
        "`%cowork cancel` stops what runs."
    )


def _activity_text(card: dict[str, Any]) -> str:
    questions, permissions = card["snapshot"]["questions"], card["snapshot"]["permissions"]
    if questions:
        return f"waits for your answer: {short(questions[0]['question'], 200)}"
    if permissions:
        return f"waits for your permission: {_call_text(permissions[0])}"
    return f"is still working on: {short(card['title'], 200)}"


def _call_text(permission: dict[str, Any]) -> str:
    preview = permission.get("shown") or {}
    if preview.get("kind") == "command":
        return short(preview["text"], 200)
    named = [permission["tool"], short(str(permission.get("resource") or ""), 200)]
    return " ".join(code(name) for name in named if name)


def _cell_link(session: KernelSession, job: dict[str, Any]) -> str:
    """A link to the cell that started the run, which may also have been a button."""
    notebook, cell_id = session.present_place.notebook, job["cell_id"]
    if notebook is None or cell_id is None:
        return "Another run of this conversation"
    number = _cell_number(notebook, cell_id)
    name = f"Cell {number}" if number else "Another cell"
    return f"[{name}]({quote(notebook.name)}#cell-id={quote(cell_id)})"


def _cell_number(notebook: Path, cell_id: str) -> int | None:
    """Counted from one; None if the notebook was not saved with the cell."""
    try:
        cells = json.loads(notebook.read_bytes())["cells"]
        ids = [cell.get("id") for cell in cells]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return ids.index(cell_id) + 1 if cell_id in ids else None
