"""A template: a plan that was saved to be used again, as a workflow with parameters.

Its texts contain `{names}` of parameters. Running it needs no model: the values are put into
the texts of the plan, never into JSON, so a value stays a value, and the user approves the
result like every plan.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    create_model,
    model_validator,
)

from ..domain.base_models import field_problems
from ..domain.contexts import StepStatus
from ..domain.expectations import Expectation
from ..domain.plan import Plan, PlanStep
from ..domain.roles import AgentRole
from .workflow import NAME, PLACE, FilePath, Line, NotebookPath, Parameters, Workflow, in_one_line

CATEGORY = "templates"
MAX_PARAMETERS = 30
MAX_SHOWN_STEPS = 12
MAX_SHOWN = 160
"""How much of a template a planner is shown: so many steps, of so many characters."""

Source = Literal["user", "workspace"]
Kind = Literal["text", "path", "notebook"]
ParameterName = Annotated[str, StringConstraints(pattern=rf"^{NAME.pattern}$", max_length=50)]

_FIELDS: dict[str, Any] = {"text": Line, "path": FilePath, "notebook": NotebookPath}


class TemplateParameter(BaseModel):
    """One thing that is different each time."""

    model_config = ConfigDict(extra="forbid")

    name: ParameterName
    title: Line = ""
    description: Line = ""
    type: Kind = "text"
    default: str | None = None
    """Used when nothing is given; None if the parameter is required."""
    example: str | None = None
    """What stood in the plan that the template was made from."""

    @model_validator(mode="after")
    def _is_usable(self) -> Self:
        if hasattr(Parameters, self.name):
            raise ValueError(f"'{self.name}' means something else here; choose another name")
        if self.default is not None:
            try:
                TypeAdapter(_FIELDS[self.type]).validate_python(self.default)
            except ValidationError as error:
                why = field_problems(error)[0].why
                raise ValueError(f"its default {why}") from None
        return self


class SavedPlan(BaseModel):
    """A template as it is in its file; its name is the file's."""

    model_config = ConfigDict(extra="forbid")

    title: Annotated[Line, Field(min_length=1)]
    description: Annotated[Line, Field(min_length=1)]
    parameters: Annotated[list[TemplateParameter], Field(max_length=MAX_PARAMETERS)] = []
    plan: Plan

    @model_validator(mode="after")
    def _names_fit(self) -> Self:
        names = [parameter.name for parameter in self.parameters]
        placed = places(self.plan)
        for index, name in enumerate(names):
            if name in names[:index]:
                raise ValueError(f"parameters[{index}].name: '{name}' is used twice")
            if name not in placed:
                raise ValueError(f"parameters[{index}]: '{{{name}}}' does not occur in the plan")
        return self


@dataclass(frozen=True)
class Template(Workflow):
    saved: SavedPlan
    source: Source

    @classmethod
    def of(cls, name: str, saved: SavedPlan, source: Source = "user") -> Template:
        lines = [f"- {parameter.name}: {{{parameter.name}}}" for parameter in saved.parameters]
        return cls(
            name=name,
            title=saved.title,
            description=saved.description,
            category=CATEGORY,
            # It only proposes: the user sees the plan, and approving it makes the role actor.
            role=AgentRole.PLANNER,
            parameters=_form(saved.parameters),
            request="\n".join([f"Make the plan of the template {name}.", *lines]),
            saved=saved,
            source=source,
        )

    @property
    def plan(self) -> Plan:
        return self.saved.plan

    def ready_plan(self, given: Parameters) -> dict[str, Any]:
        """The plan with the values filled in, and nothing of it done yet."""
        return filled(self.plan, given.model_dump(mode="json")).model_dump(mode="json")

    @property
    def outline(self) -> str:
        names = ", ".join(self.parameters.model_fields)
        steps = [
            f"  {number}. {shortened(step.action)}"
            for number, step in enumerate(self.plan.steps[:MAX_SHOWN_STEPS], 1)
        ]
        more = len(self.plan.steps) - len(steps)
        steps += [f"  … and {more} more"] if more else []
        return "\n".join([f"- {self.name}({names}): {shortened(self.description)}", *steps])


def with_texts(plan: Plan, change: Callable[[str], str]) -> Plan:
    """Transform the texts of a plan, and reset its progress.

    Ids, dependencies and tools are not texts: what may be done is never up to a parameter.
    """

    def changed(step: PlanStep) -> PlanStep:
        texts = {
            "action": change(step.action),
            "reason": change(step.reason),
            "files": [change(path) for path in step.files],
            "expects": [_expected(expectation, change) for expectation in step.expects],
            "status": StepStatus.PENDING,
        }
        return step.model_copy(update=texts)

    texts = {
        "goal": change(plan.goal),
        "risks": [change(risk) for risk in plan.risks],
        "prerequisites": [change(prerequisite) for prerequisite in plan.prerequisites],
        "steps": [changed(step) for step in plan.steps],
        "assumptions": [
            assumption.model_copy(update={"text": change(assumption.text)})
            for assumption in plan.assumptions
        ],
    }
    return plan.model_copy(update=texts)


def filled(plan: Plan, values: Mapping[str, str]) -> Plan:
    fill = partial(PLACE.sub, lambda place: values.get(place[1], place[0]))
    return with_texts(plan, fill)


def _expected(expectation: Expectation, change: Callable[[str], str]) -> Expectation:
    """Only the table and the column; what is expected of them stays."""
    column = change(expectation.column) if expectation.column else expectation.column
    return expectation.model_copy(update={"of": change(expectation.of), "column": column})


def texts_of(plan: Plan) -> list[str]:
    texts: list[str] = []

    def look(text: str) -> str:
        texts.append(text)
        return text

    with_texts(plan, look)
    return texts


def places(plan: Plan) -> set[str]:
    return {name for text in texts_of(plan) for name in PLACE.findall(text)}


def shortened(text: str) -> str:
    return in_one_line(text, MAX_SHOWN)


def _form(parameters: list[TemplateParameter]) -> type[Parameters]:
    fields: dict[str, Any] = {
        parameter.name: (_FIELDS[parameter.type], _field(parameter)) for parameter in parameters
    }
    return create_model("TemplateParameters", __base__=Parameters, **fields)


def _field(parameter: TemplateParameter) -> Any:
    required = parameter.default is None
    return Field(
        ... if required else parameter.default,
        title=parameter.title or None,
        description=parameter.description or None,
        examples=[parameter.example] if parameter.example is not None else None,
        min_length=1 if required else None,
    )
