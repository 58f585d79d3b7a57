"""`jupyter cowork save`: keep the plan of a conversation as a workflow."""

from __future__ import annotations

import asyncio
import shlex
from argparse import Namespace
from typing import TYPE_CHECKING

from .command import SUCCESS
from .ordering import add_conversation_options, settings_for

if TYPE_CHECKING:
    from ...domain.settings import Settings
    from ...workflows import OfferedParameter, Template
    from ..config import Cowork
    from .command import Commands


def add_to(commands: Commands) -> None:
    """Declare the command."""
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
    parser.set_defaults(run=run)


def run(config: Cowork, arguments: Namespace) -> int:
    """Save."""
    from .screen import Screen

    saved, offers = asyncio.run(_saved(settings_for(config, arguments), arguments))
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


async def _saved(
    settings: Settings, arguments: Namespace
) -> tuple[Template, list[OfferedParameter]]:
    from ...wiring import build_service
    from ...workflows import Draft, chosen_parameters, offered_parameters
    from .conversations import FolderConversations

    service = build_service(settings, interactive=False)
    try:
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
    finally:
        await service.close()
