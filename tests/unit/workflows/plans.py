"""A plan that several tests of templates make templates of."""

from __future__ import annotations

from typing import Any

from cowork_jupyter.domain.plan import Plan
from cowork_jupyter.workflows import Draft, Template, Varying, template_of

RAW: dict[str, Any] = {
    "goal": "Clean sales.csv for 2024",
    "steps": [
        {
            "id": "look",
            "action": "Read sales.csv",
            "reason": "To see what 2024 holds",
            "tools_needed": ["read_file"],
            "files": ["sales.csv"],
            "depends_on": [],
            "status": "completed",
        },
        {
            "id": "mend",
            "action": "Write report_2024.md on sales.csv; keep 20245 and old_sales.csv.bak",
            "tools_needed": ["create_file"],
            "files": ["report_2024.md"],
            "depends_on": ["look"],
            "status": "completed",
        },
    ],
    "risks": ["sales.csv may be large"],
    "prerequisites": ["2024 is over"],
}


def plan() -> Plan:
    return Plan.model_validate(RAW)


def template(name: str = "clean_sales", **fields: Any) -> Template:
    """The plan as a template of two parameters."""
    parameters = [Varying(name="path", value="sales.csv"), Varying(name="year", value="2024")]
    return template_of(Draft(name=name, parameters=parameters, **fields), plan())
