"""The TypeScript types of all that the server sends, made from its own description.

`python -m tests.schema` writes them; with `check` it only says whether they are as they should be.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

JS = Path(__file__).parent.parent / "js"
TYPES = JS / "src/shared/schema.ts"
_HEAD = "/** Made from the server's own models by `make fmt`; do not write here by hand. */\n"


def generated() -> str:
    """The types as they should be."""
    from cowork_jupyter.api import api  # noqa: F401 (its endpoints register themselves)
    from cowork_jupyter.api.openapi import describe_api
    from cowork_jupyter.api.routes import table

    options = ["--alphabetize", "--default-non-nullable", "false"]
    made = subprocess.run(
        ["npx", "--no-install", "openapi-typescript", *options],
        cwd=JS,
        input=describe_api(table).model_dump_json(include={"openapi", "info", "components"}),
        capture_output=True,
        text=True,
        check=True,
    )
    return _HEAD + made.stdout


def main(command: str = "") -> str | None:
    """An error, if there is one."""
    if command == "check":
        same = TYPES.exists() and TYPES.read_text() == generated()
        return None if same else f"{TYPES} is not what the server's models say. Run: make fmt"
    TYPES.write_text(generated())
    return None


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
