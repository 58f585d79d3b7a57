"""The workflows that come with Cowork.

None of them runs in a role that may change the workspace. What only needs an answer goes to
a role that reads; what ends in changed files begins with a plan, which the user approves.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from ..domain.plan import MAX_ROUNDS, Plan
from ..domain.roles import AgentRole
from .workflow import FilePath, Line, NotebookPath, Parameters, Workflow


class BuildTestReview(Parameters):
    """What to change, where, and how to see that it works."""

    task: Line = Field(title="What to build", description="The change you want.", min_length=1)
    files: list[FilePath] = Field(
        [],
        title="Files",
        description="What may be changed. Leave empty if you do not know yet.",
        max_length=50,
    )
    test: Line = Field("", title="How to test", description="A command, or what to try.")


def _plan(given: BuildTestReview) -> dict[str, Any]:
    test = given.test or "Run the existing tests, and try the change itself"
    build = {
        "id": "build",
        "action": given.task,
        "reason": "This is the change.",
        "tools_needed": ["write", "create", "execute"],
        "files": given.files,
        "role": AgentRole.ACTOR,
    }
    check = {
        "id": "test",
        "action": test,
        "reason": "Untested work is not done.",
        "tools_needed": ["execute"],
        "depends_on": ["build"],
        "role": AgentRole.TESTER,
    }
    review = {
        "id": "review",
        "action": "Review the change and its test results",
        "reason": "A second pair of eyes sees more.",
        "files": given.files,
        "depends_on": ["test"],
        "role": AgentRole.REVIEWER,
        "rounds": MAX_ROUNDS,
    }
    plan = Plan.model_validate({"goal": given.task, "steps": [build, check, review]})
    return plan.model_dump(mode="json")


build_test_review = Workflow(
    name="build_test_review",
    title="Build, test, review",
    description="A change that is tested and reviewed before it counts as done.",
    category="code",
    # It only proposes: approving the plan gives each step the rights of its role.
    role=AgentRole.PLANNER,
    parameters=BuildTestReview,
    make_plan=_plan,
    request="""
    Deliver a plan in which the actor makes a change, the tester tests it and the reviewer reviews
    it.
    The change: {task}
    Files it may change: {files}
    How to test it: {test}

    A good change does what was asked and no more, and the tests prove it.
    """,
)


class ExplainNotebook(Parameters):
    """What to explain, and to whom."""

    notebook: NotebookPath = Field(title="Notebook")
    reader: Line = Field(
        "", title="Audience", description="Who will read it, for example a new colleague."
    )


class ProfileDataset(Parameters):
    """Which data, and what for."""

    path: FilePath = Field(title="Dataset", description="A data file, or a folder of data files.")
    purpose: Line = Field("", title="Used for", description="What you want to do with the data.")


class CleanNotebook(Parameters):
    """Which notebook."""

    notebook: NotebookPath = Field(title="Notebook")


class WriteTests(Parameters):
    """For what, and with what."""

    module: FilePath = Field(title="Module", description="A Python file or package.")
    framework: Literal["pytest", "unittest"] = Field("pytest", title="Framework")
    focus: Line = Field("", title="Focus", description="What must not break.")


class ReviewChanges(Parameters):
    """What to look at."""

    paths: list[FilePath] = Field(
        [],
        title="Files",
        description="What changed. Leave empty for what was changed in this conversation.",
        max_length=50,
    )
    purpose: Line = Field("", title="Purpose", description="The purpose of the change.")


class SetUpProject(Parameters):
    """What kind of project, where."""

    goal: Line = Field(title="Goal", description="The purpose of the project.", min_length=1)
    folder: FilePath = Field(
        ".", title="Folder", description="The project's folder; '.' is the workspace."
    )
    kind: Literal["analysis", "package", "application"] = Field("analysis", title="Kind")


explain_notebook = Workflow(
    name="explain_notebook",
    title="Explain this notebook",
    description="Explains what the notebook does and shows to someone who has not seen it.",
    category="notebooks",
    # Reads everything and may ask back. A reviewer would judge instead of explaining.
    role=AgentRole.PLANNER,
    parameters=ExplainNotebook,
    recipe="Explain {notebook}",
    request="""
    Explain the notebook {notebook} to someone who opens it for the first time.
    The reader is: {reader}

    Read all of it first, and the modules and small files it uses. Then answer in plain Markdown;
    no plan is needed.
    1. In three sentences: the question it answers, the data it uses, what it finds.
    2. A walk through it, part by part: input, what is done, output.
    3. What a reader may trip over: cells that were run out of order, results that do not match
       the code, paths that exist on one machine only, claims that no cell supports.

    A good explanation names cells and variables, says what the saved outputs really show, and
    separates what you read from what you conclude. It fits on one page.
    """,
)

profile_dataset = Workflow(
    name="profile_dataset",
    title="Profile a dataset",
    description="Describes the data column by column and flags what not to trust.",
    category="data",
    # Figures need code to be run; the tester runs it while the workspace is read-only.
    role=AgentRole.TESTER,
    parameters=ProfileDataset,
    recipe="Profile {path}",
    request="""
    Profile the dataset {path}, so that its users know what is in it and what not to trust.
    It will be used for: {purpose}

    Compute the figures by running code over all rows, and write nothing to the workspace. If you
    cannot run code, read part of the data and say how many rows the figures are based on. Report:
    1. Rows and columns, what one row stands for, and which columns identify it.
    2. A table of the columns: type, missing, distinct values, range or most frequent values.
    3. What is suspicious: duplicates, mixed types, impossible values, gaps in time, columns that
       are constant or redundant. For each, how many rows are affected.
    4. The three things to check or fix first.

    A good profile contains only numbers that your code printed. If columns seem to describe
    people, describe their values instead of showing them.
    """,
)

clean_notebook = Workflow(
    name="clean_notebook",
    title="Fix a notebook's execution order",
    description="Plans how to make the notebook run from top to bottom in a fresh kernel.",
    category="notebooks",
    # Cells will move: the user sees the plan before anything does.
    role=AgentRole.PLANNER,
    parameters=CleanNotebook,
    recipe="Put the cells of {notebook} in order",
    request="""
    Plan how to make the notebook {notebook} run from top to bottom in a fresh kernel, with the
    same results as now.

    Read every cell with its execution count and output, and look for:
    - names that are used before they are defined, or whose definition was deleted;
    - cells that were run out of order;
    - cells that change what an earlier cell made, so that a second run gives other results;
    - imports and settings that are scattered over the notebook.

    Deliver a plan with the fewest moves and edits that fix this. Each step names its cells and
    what goes wrong there today. The last step runs the whole notebook in a fresh kernel and
    compares its results with the saved ones. Text, comments and style stay unchanged. If the
    order is already sound, say so instead of planning.
    """,
)

write_tests = Workflow(
    name="write_tests",
    title="Write tests for a module",
    description="Plans tests, behaviour by behaviour, and runs them in the last step.",
    category="code",
    # Which behaviour counts is the user's call, so they see the list before it is written.
    role=AgentRole.PLANNER,
    parameters=WriteTests,
    request="""
    Plan tests for {module}, written with {framework}.
    Above all, make sure of this: {focus}

    Read the code, its callers and the existing tests, and follow their layout, names and
    fixtures. Deliver a plan that says:
    - which test files will be created or extended;
    - each behaviour to test, in one sentence: the usual case, edge cases, bad input;
    - for calculations, an example whose result is known from elsewhere;
    - what is mocked (network, clock, randomness), and why.
    The last step runs the new tests and shows their output.

    A good test fails only when the behaviour breaks, and depends on neither the network nor
    another test. Leave the code itself unchanged: a bug that you find goes into the risks, with
    a test that shows it.
    """,
)

review_changes = Workflow(
    name="review_changes",
    title="Review changes",
    description="Reviews a change and gives a verdict: what is wrong, where, and how to fix it.",
    category="code",
    # Delivers a review, which cards show finding by finding, and cannot touch what it judges.
    role=AgentRole.REVIEWER,
    parameters=ReviewChanges,
    recipe="Review {paths}",
    request="""
    Review what changed.
    The files: {paths}
    Purpose of the change: {purpose}

    If no files are named here, review what was changed earlier in this conversation; if nothing
    was, ask which files are meant. Read each file completely, and its callers. Look for, in this
    order:
    1. wrong results: joins that multiply or drop rows, missing values, mixed units, test data
       that leaks into training, off-by-one ranges;
    2. risks: overwritten data, secrets in code, unvalidated input;
    3. behaviour that changed without a test;
    4. what the next reader will misunderstand.

    Deliver a review. A good finding names file and line, says which input goes wrong and how, and
    suggests a fix. A few findings that matter are better than many; if nothing matters, approve.
    """,
)

set_up_project = Workflow(
    name="set_up_project",
    title="Set up a project",
    description="Plans a small project that runs from its first day.",
    category="projects",
    # Many files at once: the user approves the list before the first one is made.
    role=AgentRole.PLANNER,
    parameters=SetUpProject,
    request="""
    Plan a new project in the folder {folder}.
    Its goal: {goal}
    Its kind: {kind}

    Look at what the folder already contains; keep that, and build around it. Deliver a plan whose
    steps name the files they create:
    - a README: what the project is for, and how to run it, in three lines;
    - only the dependencies that the goal needs, with versions;
    - folders for raw data, which nothing changes, and for derived data; a .gitignore that keeps
      data and secrets out;
    - one small module with a test, and for an analysis a first notebook that uses it.
    The last step runs the test and the notebook. Installing packages is a separate step.

    A good start is small: every file is used, and a colleague understands it in five minutes. If
    something decisive is unclear, ask one question before you plan.
    """,
)

SHIPPED = (
    explain_notebook,
    clean_notebook,
    profile_dataset,
    write_tests,
    review_changes,
    build_test_review,
    set_up_project,
)
