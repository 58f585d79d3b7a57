"""The endpoints about expectations: pinned by the user, listed, checked, exported as code."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, JsonValue

from ..domain.expectations import Check, Expectation, Operator
from ..domain.identity import new_id
from ..effects.checking import in_words
from ..effects.export import as_asserts, as_pandera
from .calls import Call
from .models import Name, RequestBody
from .routes import Download, table

PATH = "context/{id}/expectations"
_PYTHON = "text/x-python"


class NewExpectation(RequestBody):
    """`POST context/{id}/expectations`. With the id of one that is there, in its place."""

    id: Annotated[Name, Field(min_length=1, max_length=100)] | None = None
    of: Annotated[Name, Field(min_length=1, max_length=500)]
    check: Check
    op: Operator = "="
    value: JsonValue = None
    column: Annotated[Name, Field(max_length=500)] | None = None
    tolerance: Annotated[float, Field(ge=0, le=1)] | None = None
    by: Literal["person", "planner"] = "person"
    """Whoever proposed it: what comes this way, a person wants."""

    def as_expectation(self) -> Expectation:
        """As it is kept."""
        fields = self.model_dump() | {"id": self.id or new_id("exp"), "by": "person"}
        return Expectation.model_validate(fields)


class ExpectationList(BaseModel):
    """What is pinned."""

    items: list[Expectation]
    next: None = None


class ExpectationState(BaseModel):
    """One of them, and whether it is met now."""

    expectation: Expectation
    words: str
    """What is expected of the table: `rows = 12,431`."""
    met: bool | None
    """Null if it could not be checked, or there is no such table yet."""
    found: str
    """What is the case instead, or why it could not be checked."""


class ExpectationStates(BaseModel):
    """How all of them stand."""

    items: list[ExpectationState]
    next: None = None


class ExpectationExportQuery(RequestBody):
    """`GET context/{id}/expectations/export`."""

    format: Literal["asserts", "pandera"] = "asserts"


@table.route("GET", PATH, answer=ExpectationList, action="read", kernel=True)
async def list_expectations(call: Call) -> BaseModel:
    """What is pinned in the conversation's notebook; without one, in the workspace."""
    return ExpectationList(items=await call.service.expectations.all(call.path["id"]))


@table.route("POST", PATH, body=NewExpectation, answer=Expectation, status=201, action="write")
async def pin_expectation(call: Call) -> BaseModel:
    """Pin something that must stay true of a table, or change what is pinned."""
    return await call.service.expectations.pin(call.path["id"], call.body.as_expectation())


@table.route("GET", f"{PATH}/check", answer=ExpectationStates, action="read", kernel=True)
async def check_expectations(call: Call) -> BaseModel:
    """Whether the tables are as expected now. Only code of ours runs in the kernel for that."""
    checked = await call.service.expectations.check(call.path["id"])
    items = [
        ExpectationState(
            expectation=result.expectation,
            words=in_words(result.expectation),
            met=result.met,
            found=result.found,
        )
        for result in checked
    ]
    return ExpectationStates(items=items)


@table.route(
    "GET",
    f"{PATH}/export",
    query=ExpectationExportQuery,
    answer=None,
    downloads=(_PYTHON,),
    action="read",
    kernel=True,
)
async def export_expectations(call: Call) -> Download:
    """What is pinned, as Python: plain asserts, or a pandera schema."""
    expected = await call.service.expectations.all(call.path["id"])
    write = as_asserts if call.query.format == "asserts" else as_pandera
    return Download(_PYTHON, f"expectations_{call.query.format}.py", write(expected).encode())


@table.route("DELETE", f"{PATH}/{{expectation_id}}", answer=None, status=204, action="write")
async def remove_expectation(call: Call) -> None:
    """Pin something no longer."""
    await call.service.expectations.remove(call.path["id"], call.path["expectation_id"])
