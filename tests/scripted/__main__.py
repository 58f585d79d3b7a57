"""Run the scripted model by itself: `python -m tests.scripted --port 8123 script.json`.

The script is a list of replies (fields of `Scripted`); one with `when` or `system` answers
every request whose last user message or system prompt contains those words, others are
used up in order. Prints the base URL, then serves until it is ended.
"""

from __future__ import annotations

import argparse
import json
import threading
from pathlib import Path
from typing import Any

from .replies import Scripted
from .server import Rule, ScriptedServer


def load(entries: list[dict[str, Any]]) -> list[Scripted | Rule]:
    """Read a script from JSON."""
    return [_entry(dict(entry)) for entry in entries]


def _entry(fields: dict[str, Any]) -> Scripted | Rule:
    user, system = fields.pop("when", ""), fields.pop("system", "")
    reply = Scripted(**fields)
    return Rule(reply, user=user, system=system) if user or system else reply


def main() -> None:
    """Serve the script given on the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.scripted", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="a free one by default")
    parser.add_argument("--reject", action="append", default=[], help="an option to refuse")
    parser.add_argument("script", type=Path)
    options = parser.parse_args()
    script = load(json.loads(options.script.read_text()))
    with ScriptedServer(script, port=options.port, rejects=options.reject) as server:
        print(server.base_url, flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
