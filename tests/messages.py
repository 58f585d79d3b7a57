"""Every message that a user can read in the browser, for translators.

`python -m tests.messages` writes the English catalogue, and drops from translations what nobody
says any more; with `check` it only says what is wrong. A translation begins as a copy of the
English one.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import BUILT_IN

ROOT = Path(__file__).parent.parent
JS = ROOT / "js"
LOCALE = JS / "src/lab/locale"
ENGLISH = LOCALE / "en.json"

Catalogue = dict[str, list[str] | dict[str, str]]
"""By the English text: its translation, or one for each plural form; "" tells of the language."""

_SHOWN = {
    "Option": {"label", "description"},
    "Question": {"question", "context"},
    "RoleSpec": {"label", "description"},
    "Workflow": {"title", "description", "category"},
}
"""Fixed texts that the server sends to be shown, as arguments of the classes that carry them."""
_FORM = {"Field": {"title", "description"}}
"""The same for fields of forms; elsewhere they are read by models only."""
_ERRORS = {"CoworkError", "Conflict", "Forbidden", "Interrupted", "InvalidInput", "NotFound"}
_ERRORS |= {"Unavailable"}
_ELSEWHERE = {"hosts/cli", "hosts/kernel", "llm", "parts/acp", "workspace"}
"""Folders whose errors are read by editors, at the terminal, below a cell, or by a model."""
_CARRIER = re.compile(rf"\b(?:{'|'.join([*_SHOWN, *_FORM, *_ERRORS])})\(")
_COMMANDS = ("/subcommand.py", "/commands.py", "/connect.py")
"""Files of parts that only the command line reads."""


def of_browser() -> dict[str, list[str]]:
    made = subprocess.run(
        ["node", "scripts/messages.mjs"], cwd=JS, capture_output=True, text=True, check=False
    )
    if made.returncode:
        sys.exit(made.stderr)
    found: dict[str, list[str]] = json.loads(made.stdout)
    return found


def of_server() -> Iterator[str]:
    yield BUILT_IN
    for role in AgentRole:
        yield from (role.spec.label, role.spec.description)
    for path in sorted((ROOT / "cowork_jupyter").rglob("*.py")):
        folder = path.relative_to(ROOT / "cowork_jupyter").as_posix()
        shown = _SHOWN | (_FORM if folder.startswith("workflows/") else {})
        elsewhere = folder.startswith(tuple(f"{name}/" for name in _ELSEWHERE))
        is_read_here = not elsewhere and not folder.endswith(_COMMANDS)
        source = path.read_text()
        for node in ast.walk(ast.parse(source)) if _CARRIER.search(source) else ():
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            for given in node.keywords:
                if given.arg in shown.get(node.func.id, ()):
                    yield from _text(given.value, is_category=given.arg == "category")
            if node.func.id in _ERRORS and node.args and is_read_here:
                yield from _text(node.args[0])


def _text(node: ast.expr, *, is_category: bool = False) -> Iterator[str]:
    """The constant text that this is, if it is one; a name and a colon begin what programs read."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value.capitalize() if is_category else node.value
        if text and "%" not in text and text[0].isupper():
            yield text


def english() -> Catalogue:
    head = {
        "domain": "cowork_jupyter",
        "language": "en",
        "pluralForms": "nplurals=2; plural=(n != 1);",
    }
    found = {text: [text] for text in of_server()} | of_browser()
    return {"": head, **{text: found[text] for text in sorted(found)}}


def problems_of(translation: Catalogue, original: Catalogue) -> Iterator[str]:
    """What would look wrong on the screen; a message without a translation is shown in English."""
    head = translation.get("")
    forms = re.search(
        r"nplurals=(\d)", head.get("pluralForms", "") if isinstance(head, dict) else ""
    )
    if forms is None:
        yield "its plural forms are missing"
        return
    for text, said in translation.items():
        if not text:
            continue
        if text not in original:
            yield f"nobody says {text!r}. Run: make fmt"
        elif len(said) != (1 if len(original[text]) == 1 else int(forms[1])):
            yield f"the number of forms is wrong: {text!r}"
        elif any(_places(one) != _places(text) for one in said):
            yield f"%1, %2, … differ: {text!r}"


def _places(text: str) -> set[str]:
    return set(re.findall(r"%\d", text))


def _read(path: Path) -> Catalogue:
    found: Catalogue = json.loads(path.read_text())
    return found


def _write(path: Path, catalogue: Catalogue) -> None:
    path.write_text(json.dumps(catalogue, ensure_ascii=False, indent=2) + "\n")


def main(command: str = "") -> str | None:
    """An error, if there is one."""
    original = english()
    translations = [path for path in sorted(LOCALE.glob("*.json")) if path != ENGLISH]
    if command == "check":
        if not ENGLISH.exists() or _read(ENGLISH) != original:
            return f"{ENGLISH} is not what the code says. Run: make fmt"
        wrong = [
            f"{path.name}: {problem}"
            for path in translations
            for problem in problems_of(_read(path), original)
        ]
        for path in translations:
            missing = original.keys() - _read(path).keys()
            print(f"{path.name} translates all but {len(missing)} of {len(original) - 1} messages")
        return "\n".join(wrong) or None
    _write(ENGLISH, original)
    for path in translations:
        known = _read(path)
        _write(path, {text: known[text] for text in original if text in known})
    return None


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
