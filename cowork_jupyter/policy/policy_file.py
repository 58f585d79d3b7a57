"""The file given with `--policy`: rules that decide where nobody can be asked."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from ..domain.errors import InvalidInput

_FORM = 'It should contain {"permissions": {"allow": [], "ask": [], "deny": []}}.'


def read_policy(path: str) -> dict[str, Any]:
    """Its rules, in JSON or (by its ending) in TOML. What a rule means is for others to check."""
    try:
        text = Path(path).expanduser().read_text(encoding="utf-8")
        found = tomllib.loads(text) if path.endswith(".toml") else json.loads(text)
    except OSError as error:
        why = error.strerror or "it cannot be opened"
        raise InvalidInput(f"Cannot read the policy file {path}: {why}.") from None
    except ValueError as error:
        raise InvalidInput(f"Cannot read the policy file {path}: {error}.") from None
    if not isinstance(found, dict) or not isinstance(found.get("permissions"), dict):
        raise InvalidInput(f"The policy file {path} has no rules. {_FORM}")
    return found
