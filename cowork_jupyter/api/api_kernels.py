"""The endpoints about kernels: whose one is, and whether its notebook runs from top to bottom."""

from __future__ import annotations

from pydantic import BaseModel

from ..domain.message_data import Reproduction
from .calls import Call
from .models import RequestBody
from .routes import table

PATH = "context/{id}/reproduce"


class Reproduce(RequestBody):
    """On whose behalf."""

    job_id: str | None = None
    """The run whose card is to show what is found, and take back what the cells change."""


class ReproductionAnswer(BaseModel):
    """What runs now; its job can be cancelled, and what was found is a message of that job."""

    reproduction: Reproduction | None
    notebook: str | None
    """The notebook that can be tried; null if there is none, or no server to start a kernel."""


class KernelAnswer(BaseModel):
    """What a kernel cannot know by itself."""

    notebook: str | None
    """The file of its notebook, which may have been renamed since the kernel was started."""


@table.route("GET", "kernel", answer=KernelAnswer, action="read", kernel=True)
async def kernel(call: Call) -> BaseModel:
    """The notebook that the calling kernel belongs to now; null for other callers."""
    kernel_id = call.caller.kernel_id
    return KernelAnswer(notebook=await call.host.notebook_of(kernel_id) if kernel_id else None)


@table.route("POST", PATH, body=Reproduce, answer=ReproductionAnswer, action="execute", status=202)
async def reproduce(call: Call) -> BaseModel:
    """Start a job that runs all cells of the conversation's notebook in a new kernel."""
    state = await call.service.reproduce(call.path["id"], call.body.job_id)
    return reproduction_answer(call, state.context_id, state)


@table.route("GET", PATH, answer=ReproductionAnswer, action="read")
async def reproduction(call: Call) -> BaseModel:
    """The progress of that job; null if none is running."""
    return reproduction_answer(
        call, call.path["id"], call.service.reproductions.state(call.path["id"])
    )


def reproduction_answer(
    call: Call, context_id: str, state: Reproduction | None
) -> ReproductionAnswer:
    """What runs, and which notebook of this conversation can be tried."""
    notebook = call.service.conversations.get(context_id).notebook
    can = call.host.kind == "server" and notebook
    return ReproductionAnswer(reproduction=state, notebook=notebook if can else None)
