"""Actions that the user picks: each is a form, and a well-put request for the agent.

Another package adds its own by pointing an entry point of the group
`cowork_jupyter.workflows` to a `Workflow`, or to a list of them. Users save plans of theirs
as templates, which are workflows too.
"""

from .catalog import WorkflowCatalog
from .fields import FilePath, Line, NotebookPath
from .plugins import load_workflows
from .registry import Category, WorkflowRegistry
from .saving import Draft, Varying, template_of
from .template import Template
from .templates import Templates
from .workflow import Parameters, Workflow

__all__ = [
    "Category",
    "Draft",
    "FilePath",
    "Line",
    "NotebookPath",
    "Parameters",
    "Template",
    "Templates",
    "Varying",
    "Workflow",
    "WorkflowCatalog",
    "WorkflowRegistry",
    "load_workflows",
    "template_of",
]
