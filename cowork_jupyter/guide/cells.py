"""The code for a piece of work: real Python for a cell or a script, with real names in it.

Values of the user's, such as names of files and columns, get into code as literals only. What
the code finds out it prints behind an arrow; nothing else is ever claimed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from textwrap import indent
from typing import Any

from . import drawing, modelling, with_csv, with_pandas
from .jobs import GuideJob

ARROW = "→ "
WRITTEN_BY = "Written by Cowork's built-in guide (rules, no language model)."
PACKAGES = ("pandas", "matplotlib", "sklearn", "numpy")


@dataclass(frozen=True)
class Means:
    """What there is to work with."""

    packages: frozenset[str]
    in_notebook: bool
    """Whether the code becomes a cell, which shows what it draws; else that goes into a file."""
    in_kernel: bool = False
    """Whether it runs among the names of the user, as cells do and scripts do not."""


@dataclass(frozen=True)
class Choices:
    """What the user has decided along the way."""

    skip_bad_lines: bool = False
    overwrite: bool = False
    """Whether the file that is written may be there, as it is when the code is run again."""
    output: str = ""
    """Another name for the file that is written."""
    without: frozenset[str] = frozenset()
    """Packages that are not to be used."""


def code_for(job: GuideJob, means: Means, choices: Choices, paths: dict[str, str]) -> str:
    """The code; `paths` says how each file is reached from where it runs."""
    there = means.packages - choices.without
    values: dict[str, Any] = _values(job, choices, paths)
    with_frames = "pandas" in there and job.kind != "model"
    writer = with_pandas if with_frames else with_csv
    loading = writer.loading(job, paths, choices.skip_bad_lines)
    if job.kind == "model":
        body = modelling.body(there)
    elif job.kind in ("time", "category", "distribution"):
        body = writer.SPLIT if job.split else writer.BODIES[job.kind]
        body = "\n".join([body, _chart(job, there, means.in_notebook)])
    else:
        body = writer.BODIES[job.kind]
    # On one line: a file's name may hold a line break, and then code behind it.
    said = " ".join(job.action.split())
    head = f"# {said}\n# {WRITTEN_BY}"
    constants = "\n".join(f"{name} = {value!r}" for name, value in values.items())
    code = "\n".join(part.strip("\n") for part in (loading, constants, body) if part)
    return f"{head}\n{_as_function(job, code) if means.in_kernel else code}\n"


def _as_function(job: GuideJob, code: str) -> str:
    """The same with names of its own: those in the kernel are the user's."""
    name = name_of(job)
    inside = indent(code.replace("\nprint(shown.to_string())", "\nreturn shown"), "    ")
    return f"def {name}():\n{inside}\n\n{name}()"


def name_of(job: GuideJob) -> str:
    """What the function or the script is called."""
    stem = job.table.path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    plain = re.sub(r"\W+", "_", stem, flags=re.ASCII).strip("_") or "table"
    return f"guide_{job.kind}_{plain}"


def _values(job: GuideJob, choices: Choices, paths: dict[str, str]) -> dict[str, Any]:
    columns = [job.table.column(name) for name in job.columns]
    first = columns[0] if columns else None
    match job.kind:
        case "profile":
            return {}
        case "clean":
            return {
                "numbers": [one.name for one in job.table.of_kind("number")],
                "dates": {one.name: one.date_format for one in job.table.of_kind("date")},
                "gaps": job.gaps,
                **_output(job, choices, paths),
            }
        case "time":
            form = first.date_format if first else ""
            each = {"split": job.split} if job.split else {}
            return {"when": job.columns[0], "date_format": form, **each, **_measured(job)}
        case "category":
            return {"group": job.columns[0], **_measured(job)}
        case "distribution":
            is_number = bool(first and first.kind == "number")
            return {"column": job.columns[0], "is_number": is_number}
        case "join":
            keys = {"left_key": job.columns[0], "right_key": job.columns[1]}
            return {**keys, **_output(job, choices, paths)}
        case "model":
            return {"target": job.columns[0]}


def _measured(job: GuideJob) -> dict[str, Any]:
    return {"measure": job.columns[1] if len(job.columns) > 1 else None, "how": job.how}


def _output(job: GuideJob, choices: Choices, paths: dict[str, str]) -> dict[str, str]:
    name = choices.output or paths[job.output]
    return {"output": name, "mode": "w" if choices.overwrite else "x"}


def _chart(job: GuideJob, there: frozenset[str], in_notebook: bool) -> str:
    title = job.drawing.replace("`", "")
    stem = job.table.path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    kind = "lines" if job.split else "line" if job.kind == "time" else "bar"
    return drawing.chart(
        title[:1].upper() + title[1:],
        kind,
        file="" if in_notebook else f"{stem}_{job.kind}",
        with_matplotlib="matplotlib" in there,
    )
