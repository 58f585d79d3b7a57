"""The sub-commands of `%cowork` by name: for help and for completion, which must be quick."""

from __future__ import annotations

from typing import NamedTuple


class CommandUsage(NamedTuple):
    """What follows a sub-command, and what it does."""

    arguments: str
    help: str


COMMANDS = {
    "status": CommandUsage("", "the model, the workspace, the role"),
    "role": CommandUsage("ROLE [--confirm]", "go on in another role; --confirm stops a run"),
    "plan": CommandUsage("", "show the current plan"),
    "execute": CommandUsage("", "approve the current plan and carry it out"),
    "cancel": CommandUsage("", "stop what runs"),
    "insert": CommandUsage("", "put the next cell here that the agent could not"),
    "rollback": CommandUsage("[ID]", "take back the last run, or all since a checkpoint"),
    "history": CommandUsage("", "what was said"),
    "audit": CommandUsage("", "the plan beside what happened"),
    "checkpoints": CommandUsage("", "states to go back to"),
    "rules": CommandUsage("", "what is allowed, asked about, denied"),
    "models": CommandUsage("", "models of the connected server and of this machine"),
    "workflows": CommandUsage("", "ready-made actions"),
    "run": CommandUsage("NAME k=v …", "run one of them"),
    "export": CommandUsage("FILE", "the full record, as .md, .ipynb or .jsonl"),
    "doctor": CommandUsage("", "check this installation"),
    "help": CommandUsage("", "this list"),
}
