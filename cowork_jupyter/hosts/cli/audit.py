"""`jupyter cowork audit`: what a user's agents did, without a word of what was said."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from .command import SUCCESS

if TYPE_CHECKING:
    from ...record.activity import JobActivity
    from ..config import Cowork
    from .command import Commands


def add_to(commands: Commands) -> None:
    """Declare the command."""
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
    parser.set_defaults(run=run)


def run(config: Cowork, arguments: Namespace) -> int:
    """Print it. A record that is not there is not made."""
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
            f"{job.status}  {job.total_tokens:,} tokens{cost}  {len(job.checkpoints)} checkpoints"
        )
        for call in job.tools:
            yield f"    {call.at}  {call.call_id}  {call.tool}  {call.verdict}"
        for approval in job.approvals:
            status = f"{approval.status} by {approval.by or '-'}"
            yield f"    {approval.asked_at}  {approval.id}  {approval.tool}  {status}"
    total = sum(job.total_tokens for job in jobs)
    yield f"{len(jobs)} jobs, {total:,} tokens"


def _add_time(parser: ArgumentParser, name: str, text: str) -> None:
    parser.add_argument(name, metavar="TIME", type=_time, help=text)


def _time(text: str) -> str:
    """As the record writes it."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(
            f"'{text}' is not a date or time such as 2026-11-17T08:00"
        ) from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")
