"""Endpoints for expectations: what must stay true of tables."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, JsonValue

from ..domain.expectations import Check, Expectation, Operator
from ..domain.identity import new_id
from ..effects.checking import expectation_text
from ..effects.export import as_asserts, as_pandera
from .calls import Call
from .models import Items, Name, RequestBody
from .routes import Download, table

PATH = "context/{id}/expectations"
_PYTHON = "text/x-python"


class NewExpectation(RequestBody):
    """`POST context/{id}/expectations`. With the id of an existing one, replaces it."""

    id: Annotated[Name, Field(min_length=1, max_length=100)] | None = None
    of: Annotated[Name, Field(min_length=1, max_length=500)]
    check: Check
    op: Operator = "="
    value: JsonValue = None
    column: Annotated[Name, Field(max_length=500)] | None = None
    tolerance: Annotated[float, Field(ge=0, le=1)] | None = None
    by: Literal["person", "planner"] = "person"
    """Who proposed it; whatever is posted here, a person wants."""

    def as_expectation(self) -> Expectation:
        fields = self.model_dump() | {"id": self.id or new_id("exp"), "by": "person"}
        return Expectation.model_validate(fields)


class ExpectationList(Items[Expectation]):
    """Pinned expectations."""


class ExpectationState(BaseModel):
    """An expectation, and whether it is met now."""

    expectation: Expectation
    words: str
    """In words: `rows = 12,431`."""
    met: bool | None
    """Null if it could not be checked, or the table does not exist yet."""
    found: str
    """What is the case instead, or why it could not be checked."""


class ExpectationStates(Items[ExpectationState]):
    """Whether each expectation is met."""


class ExpectationExportQuery(RequestBody):
    """`GET context/{id}/expectations/export`."""

    format: Literal["asserts", "pandera"] = "asserts"


@table.get(PATH, ExpectationList, kernel=True)
async def list_expectations(call: Call) -> BaseModel:
    """Expectations pinned in the conversation's notebook, else in the workspace."""
    return ExpectationList(items=await call.service.expectations.all(call.path["id"]))


@table.post(PATH, Expectation, body=NewExpectation, status=201, action="write")
async def pin_expectation(call: Call) -> BaseModel:
    """Pin an expectation about a table, or replace one."""
    return await call.service.expectations.pin(call.path["id"], call.body.as_expectation())


@table.get(f"{PATH}/check", ExpectationStates, kernel=True)
async def check_expectations(call: Call) -> BaseModel:
    """Check all expectations now. Runs only our own code in the kernel."""
    checked = await call.service.expectations.check(call.path["id"])
    items = [
        ExpectationState(
            expectation=result.expectation,
            words=expectation_text(result.expectation),
            met=result.met,
            found=result.found,
        )
        for result in checked
    ]
    return ExpectationStates(items=items)


@table.get(f"{PATH}/export", None, query=ExpectationExportQuery, kernel=True, downloads=(_PYTHON,))
async def export_expectations(call: Call) -> Download:
    """Export the expectations as Python: plain asserts, or a pandera schema."""
    expected = await call.service.expectations.all(call.path["id"])
    write = as_asserts if call.query.format == "asserts" else as_pandera
    return Download(_PYTHON, f"expectations_{call.query.format}.py", write(expected).encode())


@table.delete(f"{PATH}/{{expectation_id}}")
async def remove_expectation(call: Call) -> None:
    """Remove an expectation."""
    await call.service.expectations.remove(call.path["id"], call.path["expectation_id"])
