"""Actions that the user picks: each is a form, and a well-put request for the agent.

Another package adds its own by pointing an entry point of the group
`cowork_jupyter.workflows` to a `Workflow`, or to a list of them.
"""

from .fields import FilePath, Line, NotebookPath
from .plugins import load_workflows
from .registry import Category, WorkflowRegistry
from .workflow import Parameters, Workflow

__all__ = [
    "Category",
    "FilePath",
    "Line",
    "NotebookPath",
    "Parameters",
    "Workflow",
    "WorkflowRegistry",
    "load_workflows",
]
