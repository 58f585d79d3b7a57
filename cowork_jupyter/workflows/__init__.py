"""Actions that the user picks: each is a form, and a well-put request for the agent.

Another package adds its own by pointing an entry point of the group
`cowork_jupyter.workflows` to a `Workflow`, or to a list of them. Users save their plans as
templates, which are workflows too.
"""

from .catalog import Category, WorkflowCatalog, WorkflowRegistry, load_workflows
from .saving import (
    Draft,
    OfferedParameter,
    TemplateEdit,
    Varying,
    chosen_parameters,
    edited,
    offered_parameters,
    template_of,
)
from .template import Template, TemplateParameter
from .templates import Templates, written
from .workflow import FilePath, Line, NotebookPath, Parameters, Workflow

__all__ = [
    "Category",
    "Draft",
    "FilePath",
    "Line",
    "NotebookPath",
    "OfferedParameter",
    "Parameters",
    "Template",
    "TemplateEdit",
    "TemplateParameter",
    "Templates",
    "Varying",
    "Workflow",
    "WorkflowCatalog",
    "WorkflowRegistry",
    "chosen_parameters",
    "edited",
    "load_workflows",
    "offered_parameters",
    "template_of",
    "written",
]
