"""`jupyter cowork audit`, `export` and `save`: what is kept of conversations and plans."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ...domain.plurals import count_of
from ..new_file import write_new_file
from .command import SUCCESS, add_conversation_options, open_service, settings_for

if TYPE_CHECKING:
    from ...domain.settings import Settings
    from ...record import Export
    from ...record.activity import JobActivity
    from ...workflows import OfferedParameter, Template
    from ..config import Cowork
    from .command import Commands


def add_audit(commands: Commands) -> None:
    parser = commands.add_parser(
        "audit",
        help="list what the agents did: jobs, tools, approvals, tokens and money",
        description="List what this user's agents did: facts and ids from the record, without the "
        "text of requests and without contents. Deleted conversations are not included.",
    )
    _add_time(parser, "--since", "start, such as 2026-11-17 or 2026-11-17T08:00 (UTC)")
    _add_time(parser, "--until", "end (exclusive)")
    parser.add_argument("--user", metavar="NAME", help="only what this user of a shared server did")
    parser.add_argument("--json", action="store_true", help="print each job as one line of JSON")
    parser.set_defaults(run=run_audit)


def run_audit(config: Cowork, arguments: Namespace) -> int:
    """Do not create a missing record."""
    from ...record.activity import activity
    from ...store import Store

    path = config.settings(workspace=Path.cwd()).database
    if path.exists():
        with Store(path) as store:
            since, until = arguments.since or "", arguments.until or ""
            jobs = activity(store, since, until, arguments.user)
    else:
        jobs = []
    for line in _as_json(jobs) if arguments.json else _as_text(jobs):
        sys.stdout.write(f"{line}\n")
    return SUCCESS


def _as_json(jobs: Iterable[JobActivity]) -> Iterable[str]:
    return (json.dumps(job.model_dump(), ensure_ascii=False) for job in jobs)


def _as_text(jobs: list[JobActivity]) -> Iterable[str]:
    for job in jobs:
        cost = f", {job.cost:g} {job.currency}" if job.cost is not None else ""
        yield (
            f"{job.started_at}  {job.id}  {job.user or '-'}  {job.kind} as {job.role}  "
            f"{job.status}  {job.total_tokens:,} tokens{cost}  "
            f"{count_of(len(job.checkpoints), 'checkpoint')}"
        )
        for call in job.tools:
            yield f"    {call.at}  {call.call_id}  {call.tool}  {call.verdict}"
        for approval in job.approvals:
            status = f"{approval.status} by {approval.by or '-'}"
            yield f"    {approval.asked_at}  {approval.id}  {approval.tool}  {status}"
    total = sum(job.total_tokens for job in jobs)
    yield f"{count_of(len(jobs), 'job')}, {total:,} tokens"


def _add_time(parser: ArgumentParser, name: str, text: str) -> None:
    parser.add_argument(name, metavar="TIME", type=_time, help=text)


def _time(text: str) -> str:
    """In the record's format."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(
            f"'{text}' is not a date or time such as 2026-11-17T08:00"
        ) from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")


_FORMATS = ("md", "jsonl", "ipynb")


def add_export(commands: Commands) -> None:
    parser = commands.add_parser(
        "export",
        help="export the full record of a conversation",
        description="Write the full record of a conversation, without keys and home folders, "
        "for people (md, ipynb) or for programs (jsonl).",
    )
    parser.add_argument(
        "--format", choices=_FORMATS, help="default: from the file's extension, else md"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="file to create; default: stdout")
    add_conversation_options(parser)
    parser.set_defaults(run=run_export)


def run_export(config: Cowork, arguments: Namespace) -> int:
    path = Path(arguments.output).expanduser() if arguments.output else None
    by_name = path.suffix[1:] if path and path.suffix[1:] in _FORMATS else _FORMATS[0]
    kind = arguments.format or by_name
    exported = asyncio.run(_export(settings_for(config, arguments), arguments.context, kind))
    if path is None:
        _print(exported.body)
    else:
        write_new_file(path, exported.body)
    return SUCCESS


async def _export(settings: Settings, conversation: str, kind: str) -> Export:
    from ...record import ExportFormat
    from .session import FolderConversations

    async with open_service(settings) as service:
        context = FolderConversations(service).get(conversation)
        return await service.export(context.id, ExportFormat(kind))


def _print(body: bytes) -> None:
    """Unchanged for a file or a program; only printable characters for a terminal."""
    if sys.stdout.isatty():
        from .screen import Screen

        Screen().result(body.decode())
    else:
        sys.stdout.buffer.write(body)
        sys.stdout.flush()


def add_save(commands: Commands) -> None:
    parser = commands.add_parser(
        "save",
        help="save the plan as a workflow to run again",
        description="Save the conversation's plan as your own workflow. Name what varies: "
        "file=sales.csv, or just the name of a value that is offered.",
    )
    parser.add_argument("name", metavar="NAME", help="lower-case letters, digits and _")
    parser.add_argument(
        "parameters", metavar="K=VALUE", nargs="*", help="what varies, and its value in the plan"
    )
    parser.add_argument("--title", default="", help="title shown in lists")
    parser.add_argument("--describe", metavar="TEXT", default="", help="what you get from it")
    parser.add_argument("--replace", action="store_true", help="replace your existing workflow")
    add_conversation_options(parser)
    parser.set_defaults(run=run_save)


def run_save(config: Cowork, arguments: Namespace) -> int:
    from .screen import Screen

    saved, offers = asyncio.run(_save(settings_for(config, arguments), arguments))
    screen, values = Screen(), {parameter.example for parameter in saved.saved.parameters}
    call = [
        f"{parameter.name}={shlex.quote(parameter.example or '')}"
        for parameter in saved.saved.parameters
    ]
    screen.result(f"Saved as {saved.name}.")
    screen.line(f"In a notebook: {' '.join(['%cowork run', saved.name, *call])}", "dim")
    rest = [offer for offer in offers if offer.value not in values]
    if rest:
        screen.line("What else could vary (name it, with --replace):", "dim")
    for parameter in rest:
        screen.line(f"  {parameter.name}={shlex.quote(parameter.value)}", "dim")
    return SUCCESS


async def _save(
    settings: Settings, arguments: Namespace
) -> tuple[Template, list[OfferedParameter]]:
    from ...workflows import Draft, chosen_parameters, offered_parameters
    from .session import FolderConversations

    async with open_service(settings) as service:
        context = FolderConversations(service).get(arguments.context)
        plan = service.reuse.plan_of(context.id)
        offers = offered_parameters(plan)
        draft = Draft.model_validate(
            {
                "name": arguments.name,
                "title": arguments.title,
                "description": arguments.describe,
                "parameters": chosen_parameters(arguments.parameters, offers),
            }
        )
        raw = plan.model_dump(mode="json")
        return service.reuse.save(draft, raw, replace=arguments.replace), offers
