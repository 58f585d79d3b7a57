"""A visit to another system, in an interpreter of its own: `python -m … SYSTEM WORKSPACE`.

It imports every module of the package, builds a service, talks to the guide, and takes a change
back. What it saw is printed as JSON. Names of other packages' modules, which are to be loaded as
they are here, come on standard input; without a system it prints these names.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PACKAGE = "cowork_jupyter"


def modules() -> Iterator[str]:
    """All of ours, but for what runs by itself inside a kernel or a sandbox."""
    found = find_spec(PACKAGE)
    assert found
    assert found.origin
    top = Path(found.origin).parent
    for file in sorted(top.rglob("*.py")):
        *folders, name = file.relative_to(top).with_suffix("").parts
        if "inside" not in folders:
            yield ".".join((PACKAGE, *folders, *([] if name == "__init__" else [name])))


def import_all() -> dict[str, str]:
    """Why some could not be imported."""
    problems = {}
    for name in modules():
        try:
            importlib.import_module(name)
        except Exception as error:
            problems[name] = repr(error)
    return problems


async def look_around(workspace: Path) -> dict[str, Any]:
    """Use the service as a person would who has just installed it."""
    from cowork_jupyter.domain.settings import Settings
    from cowork_jupyter.service.wiring import build_service

    settings = Settings(workspace=workspace, data_dir=workspace.parent / "data")
    service = build_service(settings, interactive=False)  # nothing here is confined, so all asks
    try:
        health = await service.health()
        context = service.conversations.create().id
        answers = {}
        for text in (
            "Hello",
            "Which columns does sales.csv have?",
            "How many rows are in sales.csv?",
            "Histogram of b in sales.csv",
        ):
            sent = service.send_message(context, text)
            assert sent.job_id
            job = await service.jobs.wait(sent.job_id)
            messages = service.conversations.messages(context).items
            said = [one.text for one in messages if one.job_id == job.id]
            answers[text] = [job.status, "\n".join(said)]
        return {
            "sandbox": health.sandbox,
            "problems": [one.code for one in health.problems],
            "answers": answers,
        }
    finally:
        await service.close()


def take_back(workspace: Path) -> dict[str, Any]:
    """Change what is there, and roll that back; or what keeps us from it."""
    from cowork_jupyter.checkpoints.rollback import RollbackChoice, carry_out, plan_rollback
    from cowork_jupyter.checkpoints.store import Checkpoint, CheckpointStore
    from cowork_jupyter.checkpoints.workspace_state import Exclusions, WorkspaceState
    from cowork_jupyter.domain.errors import CoworkError
    from cowork_jupyter.workspace import Workspace

    store = CheckpointStore(workspace.parent / "store")
    state = WorkspaceState(store, workspace, Exclusions())
    try:
        before = state.scan()
        with Workspace(workspace).locate("sales.csv") as place:
            place.replace(b"gone\n")
        with Workspace(workspace).locate("new/deep/file.txt") as place:
            place.create(b"new")
        changes = before.changes_until(state.scan())
        store.record(Checkpoint("ctx", changes=changes, id="cp"), workspace)
        made = store.checkpoint("cp")
        history = store.checkpoints(workspace)
        plan = plan_rollback(state, [made], history, RollbackChoice())
        carry_out(state, plan.changes, plan)
        return {"changed": [one.path for one in changes], "removed": plan.removed}
    except CoworkError as error:
        return {"refused": error.message}
    finally:
        state.close()


def main() -> None:
    """Look, and say what was seen."""
    if len(sys.argv) == 1:
        import_all()
        print(json.dumps([one for one in sys.modules if one.split(".")[0] not in _OURS]))
        return
    for name in json.load(sys.stdin):
        importlib.import_module(name)
    from .disguise import SYSTEMS, wear

    wear(SYSTEMS[sys.argv[1]])
    workspace = Path(sys.argv[2])
    seen = {"not_imported": import_all(), **asyncio.run(look_around(workspace))}
    print(json.dumps(seen | {"taken_back": take_back(workspace)}))


_OURS = {PACKAGE, "__main__", "__mp_main__", "tests"}

if __name__ == "__main__":
    main()
