"""Tools that run code in a kernel and look at its variables."""

from __future__ import annotations

import re
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field

from ...domain.errors import CoworkError, Interrupted, InvalidInput
from ...domain.plurals import count_of
from ...domain.replies import Option, Question
from ...domain.roles import Permission
from ...policy.calls import Preview
from ..base import SCRATCH, ToolContext, ToolParameters, ToolResult, tool
from ..notebook.outputs import MAX_LENGTH, describe_outputs, middle_cut, pictures_in
from ..notebook.read_tool import CellId
from ..notebook.state import CellState, stale_cell_error
from .hints import hint_for
from .state import CellFailure, Code, CodeResult, CodeRun, Variable

GO_ON, INTERRUPT, STOP = "go_on", "interrupt", "stop"
"""Answers to the question about stalled code."""

MAX_ERROR = 1_000
"""Characters of an exception's message: its beginning and its end."""
MAX_FRAMES = 3

_FRAME = re.compile(r"^File (\S.*?):(\d+), in ", re.MULTILINE)
_LIBRARY = re.compile(
    r"site-packages|dist-packages|[\\/]lib[\\/]python\d|<frozen|<string>|\.p(?:yx|xi)\b"
)

NotebookPath = Annotated[
    str | None, Field(description="Notebook whose kernel to use; default: the user's notebook.")
]
StartKernel = Annotated[
    bool, Field(description="Start a kernel for the notebook if none is running.")
]

CodeText = Annotated[str, Field(min_length=1, max_length=100_000)]


class RunCell(ToolParameters):
    """Which cell."""

    path: NotebookPath = None
    cell_id: CellId
    start_kernel: StartKernel = False


class RunCode(ToolParameters):
    """What to run, and in whose kernel."""

    code: CodeText
    where: Annotated[Literal["notebook"], Field(description="Where to run it.")] = "notebook"
    path: NotebookPath = None
    start_kernel: StartKernel = False


async def preview_cell(parameters: RunCell, context: ToolContext) -> Preview:
    cell, name = await _cell(parameters, context)
    return Preview("code", cell.source, resource=name)


async def preview_code(parameters: RunCode, context: ToolContext) -> Preview:
    return Preview(
        "code", parameters.code, resource=code_name(kernel_path(parameters.path, context))
    )


def code_name(path: str) -> str:
    """What people call code without a cell."""
    return f"code in {path}"


_code_tool = partial(
    tool,
    category="kernel",
    permissions=[Permission.EXECUTE_COMMANDS],
    travels=False,
)


@_code_tool(preview=preview_cell)
async def run_cell(parameters: RunCell, context: ToolContext) -> ToolResult:
    """Run a notebook cell in its kernel, as Shift-Enter does, and return its output.

    It waits behind what the kernel is doing already. There is no time limit; it has no input.
    """
    cell, name = await _cell(parameters, context)
    if context.clearance.code not in (None, cell.source):
        raise stale_cell_error(notebook_path(parameters.path, context), cell)
    code = Code(cell.source, cell.id)
    return await _run(code, parameters, context, name)


@_code_tool(preview=preview_code)
async def run_code(parameters: RunCode, context: ToolContext) -> ToolResult:
    """Run code in a notebook's kernel without adding a cell, and return its output.

    It sees and can change the user's variables. There is no time limit; it has no input.
    """
    return await _run(Code(parameters.code), parameters, context)


async def _run(
    code: Code, parameters: RunCell | RunCode, context: ToolContext, cell: str = ""
) -> ToolResult:
    path = kernel_path(parameters.path, context)
    name = cell or code_name(path)
    return await run_in(path, code, context, name, start=parameters.start_kernel)


async def run_in(
    path: str, code: Code, context: ToolContext, name: str, *, start: bool = False
) -> ToolResult:
    """`name` is what people call the code."""
    answers: list[str | None] = []

    async def stalled(seconds: float) -> bool:
        answers.append(await context.ask(_stall_question(name, seconds)))
        return answers[-1] == GO_ON

    run = CodeRun(path, code, context.output, start, stalled, context.mask)
    with context.waiting():
        ran = await context.kernels.run(context.workspace, run)
    if ran.stalled is not None:
        raise _stalled_error(ran, code, name, answers[-1])
    if ran.failure:
        hint = await hint_for(ran.failure, code.source, path, context)
        raise _failure_error(ran, ran.failure, code, name, hint)
    return _result(ran, code, name)


def _stall_question(name: str, seconds: float) -> Question:
    return Question(
        question=f"{_capitalize(name)} has produced no output and used no CPU for "
        f"{seconds:.0f} seconds. Keep waiting?",
        context="It may be sleeping, or waiting for something outside.",
        severity="major",
        options=[
            Option(label="Keep waiting", value=GO_ON),
            Option(label="Interrupt it", value=INTERRUPT, description="The agent is told."),
            Option(label="Interrupt it and stop the agent", value=STOP),
        ],
        default=GO_ON,
    )


def _stalled_error(ran: CodeResult, code: Code, name: str, answer: str | None) -> CoworkError:
    """Why it was interrupted, for the model, or for the user if they stopped the agent."""
    quiet = f"it produced no output and used no CPU for {ran.stalled:.0f} seconds"
    if answer == STOP:
        return Interrupted(f"{_capitalize(name)} was interrupted, and the agent stopped: {quiet}.")
    who = "the user did not want to wait" if answer else "nobody could be asked whether to wait"
    line = ran.failure.line if ran.failure else None
    where = f" It was in line {line}: {_line(code.source, line)}." if line else ""
    text = describe_outputs(ran.outputs, MAX_LENGTH)
    return CoworkError(
        "\n".join(
            [f"{_capitalize(name)} was interrupted: {quiet}, and {who}.{where}", text]
        ).strip(),
        code="stalled",
        details={"notebook": ran.path, "cell_id": code.cell_id, "line": line},
    )


async def _cell(parameters: RunCell, context: ToolContext) -> tuple[CellState, str]:
    path = notebook_path(parameters.path, context)
    state = await context.notebooks.read(context.workspace, path)
    cell = state.cell(parameters.cell_id)
    if cell.cell_type != "code":
        raise InvalidInput(f"Cell '{cell.id}' is not a code cell.", code="no_code")
    return cell, f"{state.name_of(cell.id)} of {state.path}"


def notebook_path(path: str | None, context: ToolContext) -> str:
    notebook = path or context.notebook
    if not notebook:
        raise InvalidInput(
            "This conversation does not belong to a notebook. Name one with 'path'.",
            code="no_notebook",
        )
    return notebook


def kernel_path(path: str | None, context: ToolContext) -> str:
    """The notebook whose kernel is meant; `Kernels.home` if there is only one kernel."""
    return path or context.notebook or context.kernels.home or notebook_path(path, context)


def _failure_error(
    ran: CodeResult, failure: CellFailure, code: Code, name: str, hint: str
) -> CoworkError:
    """Short: the line, the output, the exception and where it is in the user's own files."""
    line = failure.line
    where = f" in line {line}: {_line(code.source, line)}" if line else "."
    exception = f"{failure.name}: {failure.message}"
    printed = [output for output in ran.outputs if output.get("output_type") != "error"]
    text = describe_outputs(printed, MAX_LENGTH)
    parts = [text, *_own_frames(failure), middle_cut(exception, MAX_ERROR), hint]
    return CoworkError(
        "\n".join([f"{_capitalize(name)} failed{where}", *(part for part in parts if part)]),
        code="code_failed",
        retryable=True,  # once the code is corrected
        details={**_facts(ran, code), "line": line, "exception": exception[:2000]},
    )


def _own_frames(failure: CellFailure) -> list[str]:
    """Frames in the user's own modules; library internals do not help."""
    frames = _FRAME.findall(failure.traceback)
    own = [frame for frame in frames if not _LIBRARY.search(frame[0])]
    return [f"in {file}, line {line}" for file, line in own[-MAX_FRAMES:]]


def _facts(ran: CodeResult, code: Code) -> dict[str, Any]:
    cell = CellState(code.cell_id or "", "code", code.source)
    return {
        **({"where": SCRATCH} if ran.path == SCRATCH else {"notebook": ran.path}),
        "cell_id": code.cell_id,
        # Of the cell as it ran: tells whether its output is of an older version.
        **({"fingerprint": cell.fingerprint} if code.cell_id else {}),
        "seconds": round(ran.seconds, 3),
        "omitted_characters": ran.omitted,
    }


def _result(ran: CodeResult, code: Code, name: str) -> ToolResult:
    text = describe_outputs(ran.outputs, MAX_LENGTH)
    # Models know cells by their ids.
    what = f"cell {code.cell_id} in" if code.cell_id else f"{code_name(ran.path)},"
    head = f"[ran {what} {ran.seconds:.1f} s]"
    model_text = f"{text}\n{head}" if text else f"{head} No output."
    pictures = pictures_in(ran.outputs)
    return ToolResult(model_text, f"ran {name}", _facts(ran, code), pictures, output=text)


def _capitalize(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}"


def _line(source: str, number: int) -> str:
    lines = source.splitlines()
    return lines[number - 1].strip()[:200] if number <= len(lines) else ""


class ListVariables(ToolParameters):
    """In whose kernel."""

    path: NotebookPath = None


class InspectVariable(ToolParameters):
    """Which variable, in whose kernel."""

    name: Annotated[str, Field(min_length=1, max_length=500, description="Variable name.")]
    path: NotebookPath = None


@tool(category="kernel", permissions=[Permission.READ_FILES], idempotent=True, travels=False)
async def list_variables(parameters: ListVariables, context: ToolContext) -> ToolResult:
    """List the variables in a notebook's kernel: names, types, shapes and sizes."""
    path = kernel_path(parameters.path, context)
    variables = await context.kernels.variables(context.workspace, path)
    lines = [_variable_line(item) for item in variables.items]
    if variables.total > len(lines):
        lines.append(f"[{variables.total - len(lines):,} more names are not shown]")
    count = count_of(variables.total, "variable")
    text = "\n".join(lines) or "The kernel has no variables yet."
    return ToolResult(text, f"listed {count} of {variables.path}", {"notebook": variables.path})


@tool(category="kernel", permissions=[Permission.READ_FILES], idempotent=True, travels=False)
async def inspect_variable(parameters: InspectVariable, context: ToolContext) -> ToolResult:
    """Look at a variable in a notebook's kernel: for a table its columns, types, missing values,
    statistics and first rows; for other values what is in them.
    """
    if not parameters.name.isidentifier():
        raise InvalidInput(
            f"'{parameters.name}' is not a variable name; expressions are not evaluated.",
            code="no_name",
        )
    path = kernel_path(parameters.path, context)
    variable = await context.kernels.inspect(context.workspace, path, parameters.name)
    text = "\n".join([_variable_line(variable), *variable.lines])
    data = {"notebook": path, "name": variable.name, "type": variable.type}
    return ToolResult(text, f"looked at {variable.name} ({variable.type})", data)


def _variable_line(variable: Variable) -> str:
    about = f" · {variable.about}" if variable.about else ""
    return f"{variable.name}: {variable.type}{about}"
