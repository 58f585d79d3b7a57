"""What the sandbox closes, from its own tables."""

from __future__ import annotations

from collections.abc import Iterable

from cowork_jupyter.workspace.sandbox.path_access import NEEDED
from cowork_jupyter.workspace.sandbox.seccomp import REFUSED_CALLS, When
from cowork_jupyter.workspace.start_up import HARMLESS, KNOWN

_WHEN: dict[When, str] = {
    "always": "always",
    "other_process": "for any process that the command has not started",
    "other_owner": "for any process that the command has not started, and for all of a user",
    "shared_names": "where the command has no such names of its own (no IPC namespace)",
}


def sandbox_page() -> str:
    calls = (f"| `{one.name}` | {one.why} | {_WHEN[one.when]} |" for one in REFUSED_CALLS)
    return "\n".join(
        [
            "# The sandbox in detail",
            "",
            "[Security](../security.md) says what is promised. These are the lists behind it.",
            "",
            "## System calls that reach other programs",
            "",
            "With Landlock and with bubblewrap, on x86-64 and ARM64. A refused call fails with "
            "`EPERM`.",
            "",
            "| call | it | is refused |",
            "|---|---|---|",
            *calls,
            "",
            "## What is open in home folders",
            "",
            "All else in a home folder is hidden from commands. What `PATH`, `PYTHONPATH` and "
            "similar variables name is open, and what belongs to the running Python. Add more "
            "with [`sandbox_read`](settings.md#sandbox_read).",
            "",
            _list(f"~/{name}" for name in NEEDED),
            "",
            "git's settings of yours are there too, without credentials and without what names "
            "other programs.",
            "",
            "## What counts as a start-up file",
            "",
            "By name, wherever it is in the workspace:",
            "",
            _list(sorted(KNOWN)),
            "",
            "Also `*.pth`, `.env.*`, Jupyter's and IPython's `*_config.py` and `*_config.json`, "
            "environments, compiled Python (`__pycache__`), and every other name that begins with "
            "a dot except these and similar ones:",
            "",
            _list(sorted(HARMLESS)),
            "",
        ]
    )


def _list(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
