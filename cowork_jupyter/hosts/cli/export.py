"""`jupyter cowork export`: the full record of a conversation, as a file to take along."""

from __future__ import annotations

import asyncio
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from ...domain.errors import Conflict, CoworkError
from .command import SUCCESS
from .ordering import add_conversation_options, settings_for

if TYPE_CHECKING:
    from ...domain.settings import Settings
    from ...record import Export
    from ..config import Cowork
    from .command import Commands

_FORMATS = ("md", "jsonl", "ipynb")


def add_to(commands: Commands) -> None:
    """Declare the command."""
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
    parser.set_defaults(run=run)


def run(config: Cowork, arguments: Namespace) -> int:
    """Export."""
    path = Path(arguments.output).expanduser() if arguments.output else None
    by_name = path.suffix[1:] if path and path.suffix[1:] in _FORMATS else _FORMATS[0]
    kind = arguments.format or by_name
    exported = asyncio.run(_exported(settings_for(config, arguments), arguments.context, kind))
    if path is None:
        _print(exported.body)
    else:
        _write(path, exported.body)
    return SUCCESS


async def _exported(settings: Settings, conversation: str, kind: str) -> Export:
    from ...record import ExportFormat
    from ...wiring import build_service
    from .conversations import FolderConversations

    service = build_service(settings, interactive=False)
    try:
        context = FolderConversations(service).get(conversation)
        return await service.export(context.id, ExportFormat(kind))
    finally:
        await service.close()


def _print(body: bytes) -> None:
    """As it is for a file or a program; for a person's terminal only what it can show."""
    if sys.stdout.isatty():
        from .screen import Screen

        Screen().result(body.decode())
    else:
        sys.stdout.buffer.write(body)
        sys.stdout.flush()


def _write(path: Path, body: bytes) -> None:
    try:
        with path.open("xb") as file:
            file.write(body)
    except FileExistsError:
        raise Conflict(f"{path} already exists. Choose another name.") from None
    except OSError as error:
        raise CoworkError(f"Cannot write {path}: {error.strerror}.") from None
