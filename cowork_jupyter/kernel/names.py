"""The sub-commands of `%cowork` by name: for help and for completion, which must be quick."""

from __future__ import annotations

from typing import NamedTuple


class Usage(NamedTuple):
    """What follows a sub-command, and what it does."""

    arguments: str
    help: str


COMMANDS = {
    "status": Usage("", "the model, the workspace, the role"),
    "role": Usage("ROLE [--confirm]", "go on in another role; --confirm stops a run"),
    "plan": Usage("", "show the current plan"),
    "execute": Usage("", "approve the current plan and carry it out"),
    "cancel": Usage("", "stop what runs"),
    "insert": Usage("", "put the next cell here that the agent could not"),
    "rollback": Usage("[ID]", "take back the last run, or all since a checkpoint"),
    "history": Usage("", "what was said"),
    "audit": Usage("", "the plan beside what happened"),
    "checkpoints": Usage("", "states to go back to"),
    "rules": Usage("", "what is allowed, asked about, denied"),
    "models": Usage("", "models of the connected server and of this machine"),
    "workflows": Usage("", "ready-made actions"),
    "run": Usage("NAME k=v …", "run one of them"),
    "export": Usage("FILE", "the full record, as .md, .ipynb or .jsonl"),
    "doctor": Usage("", "check this installation"),
    "help": Usage("", "this list"),
}
