"""The sub-commands of `%cowork` by name: for help and for completion, which must be quick."""

from __future__ import annotations

from typing import NamedTuple


class CommandUsage(NamedTuple):
    """What follows a sub-command, and what it does."""

    arguments: str
    help: str


COMMANDS = {
    "status": CommandUsage("", "show the model, the workspace and the role"),
    "role": CommandUsage("ROLE [--confirm]", "switch the role; --confirm stops a run in progress"),
    "plan": CommandUsage("", "show the current plan"),
    "execute": CommandUsage("", "approve and execute the current plan"),
    "cancel": CommandUsage("", "stop the run"),
    "insert": CommandUsage("", "insert the next cell that the agent could not insert"),
    "rollback": CommandUsage("[ID]", "roll back the last run, or everything since a checkpoint"),
    "history": CommandUsage("", "show the messages"),
    "audit": CommandUsage("", "compare the plan with what happened"),
    "checkpoints": CommandUsage("", "list the checkpoints to go back to"),
    "rules": CommandUsage("", "list what is allowed, asked about and denied"),
    "models": CommandUsage("", "list the models of the connected server and on this machine"),
    "workflows": CommandUsage("", "ready-made actions"),
    "run": CommandUsage("NAME k=v …", "run a workflow"),
    "export": CommandUsage("FILE", "export the full record as .md, .ipynb or .jsonl"),
    "doctor": CommandUsage("", "check this installation"),
    "help": CommandUsage("", "this list"),
}
