"""Which kernel a notebook wants, and whether this server has it."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import KernelSpec
from jupyter_core.utils import ensure_async

from ...domain.errors import InvalidInput


async def kernel_for(notebook: Path, kernels: Any) -> str | None:
    """The kernel to start for a notebook; None leaves it to the server.

    One that is not installed is refused before Jupyter tries: it would wait at its end for a
    kernel that never was.
    """
    name = await asyncio.to_thread(_named_in, notebook)
    if name is None:
        return None
    try:
        await ensure_async(kernels.kernel_spec_manager.get_kernel_spec(name))
    except KeyError:  # Jupyter's `NoSuchKernel`, or what a gateway makes of it
        raise InvalidInput(
            f"'{notebook.name}' needs the kernel '{name}', which is not installed here. "
            "Ask the user to install it or to choose another kernel for this notebook.",
            code="no_such_kernel",
        ) from None
    return name


async def python_for(notebook: Path, kernels: Any) -> str | None:
    """The Python that a notebook's kernel runs in; None where it is not Python's, or unknown.

    A gateway's is on another machine.
    """
    try:
        name = await kernel_for(notebook, kernels) or kernels.default_kernel_name
        spec = await ensure_async(kernels.kernel_spec_manager.get_kernel_spec(name))
    except (InvalidInput, KeyError):
        return None
    if not isinstance(spec, KernelSpec):
        return None
    program = spec.argv[0] if spec.argv and spec.language == "python" else ""
    return program if os.path.isabs(program) else None  # noqa: PTH117 - a plain string


def _named_in(file: Path) -> str | None:
    try:
        name = json.loads(file.read_text("utf-8"))["metadata"]["kernelspec"]["name"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return str(name)
