"""What all ways of answering share: the model's server, and running a script once."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

import duckdb
import pandas as pd
from openai import OpenAI

from .questions import Question
from .task import Task

Asked = Question | Task
SCRIPT_SECONDS = 60
MAX_OUTPUT = 4_000
_FENCE = re.compile(r"```(?:python|py)?[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)


Level = Literal["form", "reply", "tool", "code", "run"]


class Strike(NamedTuple):
    """What cost a turn, or the answer."""

    level: Level
    """An answer not in its form or not computed, a reply that cannot be used, a tool that
    refused, code that failed, or the run itself."""
    kind: str
    """What it was, in a word: an exception, an error's code."""
    text: str = ""

    def __str__(self) -> str:
        return f"{self.level}: {self.kind}"


@dataclass
class Attempt:
    """How one question was answered in one way."""

    answer: str = ""
    turns: int = 0
    tokens: int = 0
    seconds: float = 0.0
    strikes: list[Strike] = field(default_factory=list)
    """What went wrong on the way."""
    transcript: list[str] = field(default_factory=list)
    """What was said and done, to find out why an answer is wrong."""


class Server:
    """A model behind an OpenAI-compatible server."""

    def __init__(
        self, base_url: str, model: str, api_key: str = "none", protocol: str = ""
    ) -> None:
        """`protocol`: the tool protocol that our agent uses with it; empty for the default."""
        self.base_url, self.model, self.api_key = base_url, model, api_key
        self.protocol = protocol
        self._client = OpenAI(base_url=base_url, api_key=api_key, timeout=600, max_retries=1)

    def reply(self, messages: list[dict[str, str]], attempt: Attempt) -> str:
        """What the model says, with what it costs noted."""
        began = time.perf_counter()
        done = self._client.chat.completions.create(
            model=self.model,
            messages=messages,  # type: ignore[arg-type]
            temperature=0,
            max_tokens=800,
        )
        attempt.turns += 1
        attempt.seconds += time.perf_counter() - began
        attempt.tokens += done.usage.total_tokens if done.usage else 0
        said = done.choices[0].message.content or ""
        attempt.transcript.append(said)
        return said


def first_lines(folder: Path, question: Asked, lines: int = 4) -> str:
    """The beginning of each file that a question is about."""
    shown = []
    for name in question.files:
        head = as_text(folder / name).splitlines()[:lines]
        shown.append(f"{name} begins with:\n" + "\n".join(head))
    return "\n\n".join(shown)


def as_text(file: Path) -> str:
    """A table as people would paste it."""
    if file.suffix == ".xlsx":
        return str(pd.read_excel(file, engine="calamine").to_csv(index=False))
    if file.suffix == ".parquet":
        return str(duckdb.read_parquet(str(file)).df().to_csv(index=False))
    return file.read_text(encoding="utf-8")


def code_in(reply: str) -> str | None:
    """The first fenced block; None if there is none."""
    found = _FENCE.search(reply)
    return found[1] if found else None


def run_script(code: str, folder: Path, attempt: Attempt, probe: str = "") -> str:
    """What a script prints, its error included."""
    began = time.perf_counter()
    try:
        done = subprocess.run(
            [sys.executable, "-c", f"{code}\n{probe}"],
            cwd=folder, capture_output=True, text=True, timeout=SCRIPT_SECONDS, check=False,
        )  # fmt: skip
        output = done.stdout + (done.stderr[-1_500:] if done.returncode else "")
        if done.returncode:
            last = done.stderr.strip().rpartition("\n")[2]
            attempt.strikes.append(Strike("code", last.partition(":")[0], last[:200]))
    except subprocess.TimeoutExpired:
        output = f"It did not end within {SCRIPT_SECONDS} seconds."
        attempt.strikes.append(Strike("code", "timeout"))
    attempt.seconds += time.perf_counter() - began
    attempt.transcript.append(output[:MAX_OUTPUT])
    return output[:MAX_OUTPUT]
