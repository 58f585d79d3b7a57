"""`jupyter cowork storage`: show what takes room, and free it."""

from __future__ import annotations

import asyncio
import json
import sys
from argparse import Namespace
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from ...domain.errors import Conflict, InvalidInput
from ...domain.plurals import count_of
from .command import SUCCESS, open_service, settings_for

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from ...domain.settings import Settings
    from ...service.service import CoworkService
    from ..config import Cowork
    from .command import Commands
    from .screen import Screen

T = TypeVar("T")
_PATIENCE = 1.0
"""Seconds before progress is shown."""
_FRAME = 0.1


def add_to(commands: Commands) -> None:
    parser = commands.add_parser(
        "storage",
        help="show the disk space of conversations and checkpoints, and free it",
        description="Show the disk space that conversations and checkpoints use. With --free, "
        "delete what you name and compact the database.",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--free",
        action="store_true",
        help="delete what the options below name, and compact the database",
    )
    parser.add_argument(
        *("--older-than",),
        type=float,
        metavar="DAYS",
        help="with --free: conversations unused for that long, unless pinned, running or waiting",
    )
    parser.add_argument("--context", metavar="ID", help="with --free: this conversation")
    parser.add_argument(
        "--checkpoints",
        action="store_true",
        help="with --free: only their checkpoints, or all checkpoints; the conversations stay",
    )
    parser.add_argument(
        "--copies",
        action="store_true",
        help="with --free: the backups made when a newer version upgraded the database",
    )
    parser.add_argument("--yes", action="store_true", help="delete without asking")
    parser.add_argument("--workspace", metavar="DIR", help="folder; default: the current one")
    parser.set_defaults(run=run)


def run(config: Cowork, arguments: Namespace) -> int:
    from .screen import Screen

    by_name = arguments.context or arguments.checkpoints or arguments.copies
    if (by_name or arguments.older_than is not None) and not arguments.free:
        raise InvalidInput("Add --free to delete what you name.")
    if arguments.older_than is not None and arguments.context:
        raise InvalidInput("Name either --older-than or --context.")
    if (arguments.older_than or 0) < 0:
        raise InvalidInput("--older-than takes a number of days.")
    settings, screen = settings_for(config, arguments), Screen()
    if arguments.free:
        asyncio.run(_free(settings, arguments, screen))
    usage = asyncio.run(_with_progress(screen, "Measuring", _measure(settings)))
    if arguments.json:
        screen.record(json.dumps(usage, ensure_ascii=False))
    else:
        screen.result("\n".join(_lines(usage)))
    return SUCCESS


async def _measure(settings: Settings) -> dict[str, Any]:
    from ...store.migrations import copies_of

    async with open_service(settings) as service:
        kept = await service.checkpoints.lazy_store.by_context()
        use = await service.checkpoints.lazy_store.use()
        store = service.journal.store
        room = await asyncio.to_thread(store.context_sizes)
        free = store.free_bytes()
    return {
        "database": {
            "path": str(settings.database),
            "bytes": settings.database.stat().st_size,
            "free": free,
            "copies": sum(copy.stat().st_size for copy in copies_of(settings.database)),
        },
        "checkpoints": use.model_dump(),
        "conversations": [
            {**asdict(conversation), "checkpoint_bytes": kept.get(conversation.id, 0)}
            for conversation in room
        ],
    }


def _lines(usage: dict[str, Any]) -> list[str]:
    database, checkpoints = usage["database"], usage["checkpoints"]
    lines = [f"{'messages':>8} {'size':>10} {'checkpoints':>12}  last used   conversation"]
    for conversation in usage["conversations"]:
        sizes = f"{_size(conversation['bytes']):>10} {_size(conversation['checkpoint_bytes']):>12}"
        title = conversation["title"] or "Untitled"
        lines.append(
            f"{conversation['messages']:>8} {sizes}  {conversation['updated_at'][:10]}  "
            f"{title[:60]} ({conversation['id']})"
        )
    return [
        *(lines if usage["conversations"] else ["There are no conversations yet."]),
        "",
        f"Conversations: {_size(database['bytes'])} in {database['path']}",
        *(
            [f"  {_size(database['free'])} of it can be freed with --free"]
            if database["free"]
            else []
        ),
        *(
            [f"Backups of older versions: {_size(database['copies'])}"]
            if database["copies"]
            else []
        ),
        f"Checkpoints: {_size(checkpoints['bytes'])} of at most {_size(checkpoints['limit'])}",
    ]


def _size(count: float) -> str:
    for unit in ("B", "KB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


async def _free(settings: Settings, arguments: Namespace, screen: Screen) -> None:
    from ...store.migrations import copies_of
    from ...store.retention import rewrite

    async with open_service(settings) as service:
        chosen = _select(service, arguments)
        if chosen:
            _confirm(screen, _describe(len(chosen), arguments), arguments)
            # Select again: keep what was used while waiting for the confirmation.
            chosen = [
                context_id for context_id in _select(service, arguments) if context_id in chosen
            ]
            removing = _remove(service, chosen, only_checkpoints=arguments.checkpoints)
            await _with_progress(screen, "Deleting", removing)
        elif arguments.older_than is not None:
            screen.line(f"No conversation has been unused for {arguments.older_than:g} days.")
    if arguments.copies and (copies := copies_of(settings.database)):
        _confirm(screen, "the backups of older versions", arguments)
        for copy in copies:
            copy.unlink(missing_ok=True)
    await _with_progress(screen, "Shrinking", asyncio.to_thread(rewrite, settings.database))


def _select(service: CoworkService, arguments: Namespace) -> list[str]:
    store = service.journal.store
    if arguments.context:
        context = store.context(arguments.context)
        if store.active_job(context.id):
            raise Conflict("A job is running in this conversation. Stop it first.")
        return [context.id]
    if arguments.older_than is not None:
        then = datetime.now(UTC) - timedelta(days=arguments.older_than)
        return store.unused_contexts(then.isoformat(timespec="milliseconds"))
    return (
        [conversation.id for conversation in store.context_sizes()] if arguments.checkpoints else []
    )


def _describe(count: int, arguments: Namespace) -> str:
    what = count_of(count, "conversation")
    if arguments.checkpoints:
        return f"the checkpoints of {what}, so that nothing they did can be rolled back"
    return what


def _confirm(screen: Screen, what: str, arguments: Namespace) -> None:
    from .asking import is_interactive

    if arguments.yes:
        return
    if not is_interactive():
        raise InvalidInput(f"Add --yes to delete {what}.")
    screen.prompt(f"Delete {what}, for good? [y/N] ")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise InvalidInput("Nothing was deleted.")


async def _remove(service: CoworkService, chosen: list[str], *, only_checkpoints: bool) -> None:
    for context_id in chosen:
        with service.journal.transaction() as tx:
            if only_checkpoints:
                tx.delete_checkpoints([checkpoint.id for checkpoint in tx.checkpoints(context_id)])
            else:
                tx.delete_context(context_id)
        await asyncio.sleep(0)
    await service.checkpoints.lazy_store.forget_context(*chosen)


async def _with_progress(screen: Screen, label: str, work: Coroutine[Any, Any, T]) -> T:
    task = asyncio.ensure_future(work)
    try:
        done, _ = await asyncio.wait([task], timeout=_PATIENCE)
        if not done:
            screen.line(f"{label} …")
            screen.status(label)
        while not task.done():
            screen.tick()
            await asyncio.wait([task], timeout=_FRAME)
        return await task
    finally:
        screen.hide_status()
