"""`%%plan`, `%%act`, `%%ask` and `%cowork`.

Loading this must stay cheap, so all that does the work is imported when a magic runs.
"""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from IPython.core.magic import Magics, cell_magic, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

if TYPE_CHECKING:
    from .output import Note


def _unquote(text: str) -> str:
    """IPython leaves the quotes around an argument."""
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if quoted else text


_context_option = argument(
    "-c", "--context", metavar="NAME", type=_unquote, help="conversation to continue"
)
_model_option = argument(
    "-m", "--model", metavar="MODEL", type=_unquote, help="model to use from now on"
)
_wait_option = argument(
    "--wait", action="store_true", help="keep the cell running until the run ends"
)


@magics_class
class CoworkMagics(Magics):
    @magic_arguments()
    @_context_option
    @_model_option
    @_wait_option
    @cell_magic
    def plan(self, line: str, cell: str) -> None:
        """Make a plan for the goal in the cell, with read-only permissions, and show it."""
        from .link import CellProblem

        arguments = _options(self.plan, line)
        if not cell.strip():
            raise CellProblem("Write your goal below %%plan.")
        _ask("planner", cell, arguments)

    @magic_arguments()
    @_context_option
    @_model_option
    @_wait_option
    @argument(
        "--policy",
        metavar="FILE",
        type=_unquote,
        help="rules that decide when nobody can be asked",
    )
    @cell_magic
    def act(self, line: str, cell: str) -> None:
        """Do what the cell says. An empty cell executes the current plan."""
        _ask("actor", cell, _options(self.act, line))

    @magic_arguments()
    @argument("role", metavar="ROLE", nargs="?", help="role to ask; default: the current one")
    @_context_option
    @_model_option
    @_wait_option
    @cell_magic
    def ask(self, line: str, cell: str) -> None:
        """Continue the conversation in its current role, or in the role you name.

        A planner revises the current plan, unless that plan was already executed.
        """
        from .link import CellProblem
        from .requests import readable_errors, role_to_ask
        from .session import session

        arguments = _options(self.ask, line)
        if not cell.strip():
            raise CellProblem("Write your message below %%ask.")
        with readable_errors():
            role = role_to_ask(session(), arguments.context, arguments.role)
        del arguments.role
        _ask(role, cell, arguments, about_plan=True)

    @line_magic
    def cowork(self, line: str) -> Note | None:
        """Show Cowork's status, or run one of the commands that `%cowork help` lists."""
        from .commands import command

        return command(line)


def _options(magic: Any, line: str) -> Namespace:
    from .link import CellProblem

    try:
        options: Namespace = parse_argstring(magic, line)
    except ValueError as error:
        raise CellProblem(f"Cannot read this line: {error}.") from None
    return options


def _ask(role: str, text: str, arguments: Namespace, *, about_plan: bool = False) -> None:
    from ...policy.settings_file import read_policy
    from .requests import CellRequest, readable_errors, send_request
    from .session import session

    options: dict[str, Any] = vars(arguments)
    file = options.pop("policy", None)
    with readable_errors():
        policy = read_policy(file) if file else None
        request = CellRequest(
            role=role, text=text.strip(), policy=policy, about_plan=about_plan, **options
        )
        send_request(session(), request)


def allow_empty_cells(shell: Any) -> None:
    transforms = shell.input_transformers_cleanup
    if ensure_cell_body not in transforms:
        transforms.append(ensure_cell_body)


def ensure_cell_body(lines: list[str]) -> list[str]:
    """Add an empty line to a cell that is only a magic: `%%act` alone executes the plan.

    IPython refuses a cell magic without a body before the magic is even called.
    """
    if len(lines) != 1 or not lines[0].lstrip().startswith("%%"):
        return lines
    from ...domain.user_code import is_request

    if is_request(lines[0]):
        return [lines[0].rstrip("\n") + "\n", "\n"]
    return lines
