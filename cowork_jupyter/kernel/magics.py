"""`%%plan`, `%%act` and `%cowork`.

Loading this must stay cheap, so cards and the service are imported when a magic runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from IPython.core.magic import Magics, cell_magic, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

if TYPE_CHECKING:
    from .card import Card

_context_option = argument("-c", "--context", metavar="NAME", help="conversation to go on with")
_model_option = argument("-m", "--model", metavar="MODEL", help="model to use for this cell")
_wait_option = argument("--wait", action="store_true", help="keep the cell running until done")


@magics_class
class CoworkMagics(Magics):
    """The way in from a notebook."""

    @magic_arguments()
    @_context_option
    @_model_option
    @_wait_option
    @cell_magic
    def plan(self, line: str, cell: str) -> Card:
        """Plan what the cell's text asks for, with read-only rights, and show the plan."""
        arguments = parse_argstring(self.plan, line)
        return self._status_card(role="planner", goal=cell, model=arguments.model)

    @magic_arguments()
    @_context_option
    @_model_option
    @_wait_option
    @argument("--policy", metavar="FILE", help="rules that decide when nobody can be asked")
    @cell_magic
    def act(self, line: str, cell: str) -> Card:
        """Do what the cell's text asks for; with an empty cell, execute the current plan."""
        arguments = parse_argstring(self.act, line)
        return self._status_card(role="actor", goal=cell, model=arguments.model)

    @line_magic
    def cowork(self, line: str) -> Card:  # noqa: ARG002 — sub-commands come with the coordinator
        """Show how Cowork is set up: the model, the workspace, what is missing."""
        return self._status_card(role=None, goal="", model=None)

    def _status_card(self, role: str | None, goal: str, model: str | None) -> Card:
        from .status import status_card

        return status_card(self.shell, role=role, goal=goal, model=model)
