"""The same model without us: asked once, and in the plainest loop there is."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd

from .asking import Asked, Attempt, Server, Strike, as_text, code_in, first_lines, run_script

MAX_TURNS = 5
_BARE = (
    "You answer questions about data files with one Python script (pandas is there). Reply with "
    "one fenced Python block; it is run once, and what it prints is your answer."
)
_LOOP = (
    "You answer questions about data files. Reply with one fenced Python block (pandas is there) "
    "and you are told what it printed; variables are gone afterwards. When you know the answer "
    "from such an output, reply with it in plain words, without code."
)


def bare(server: Server, question: Asked, folder: Path) -> Attempt:
    """One message with the first lines of the files; the script of the reply is run once."""
    attempt = Attempt()
    asked = f"{first_lines(folder, question)}\n\n{question.wording}"
    said = server.reply([_system(_BARE), _user(asked)], attempt)
    code = code_in(said)
    attempt.answer = said if code is None else run_script(code, folder, attempt, question.probe)
    return attempt


def plain_loop(server: Server, question: Asked, folder: Path) -> Attempt:
    """Facts of the tables in the message, outputs back to the model, no answer without code."""
    attempt = Attempt()
    asked = f"{_facts(folder, question)}\n\n{question.wording}"
    messages = [_system(_LOOP), _user(asked)]
    has_run = False
    for _ in range(MAX_TURNS):
        said = server.reply(messages, attempt)
        messages.append({"role": "assistant", "content": said})
        code = code_in(said)
        if code is not None:
            output = run_script(code, folder, attempt, question.probe)
            has_run = True
            attempt.answer = output
            messages.append(_user(f"It printed:\n{output or '(nothing)'}"))
        elif has_run:
            attempt.answer = said
            break
        else:
            attempt.strikes.append(Strike("form", "not computed"))
            messages.append(_user("Compute it first: reply with a fenced Python block."))
    return attempt


def _facts(folder: Path, question: Asked) -> str:
    return "\n\n".join(_facts_of(folder / name) for name in question.files)


def _facts_of(file: Path) -> str:
    text = as_text(file)
    head = text.splitlines()[:4]
    separator = ";" if head[0].count(";") > head[0].count(",") else ","
    table = pd.read_csv(io.StringIO(text), sep=separator)
    columns = [
        f"- {name}: {table[name].dtype}, {int(table[name].isna().sum())} missing, for example "
        f"{', '.join(map(str, table[name].dropna().unique()[:3]))}"
        for name in table.columns
    ]
    shown = "\n".join([*columns, "It begins with:", *head])
    return f"{file.name}: {len(table)} rows, separator {separator!r}, columns:\n{shown}"


def _system(text: str) -> dict[str, str]:
    return {"role": "system", "content": text}


def _user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}
