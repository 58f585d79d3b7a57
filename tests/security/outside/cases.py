"""What attackers and instructions in texts make agents try, with the decision that each must get.

The categories are those of two public collections, RedCode (harmful commands and code) and BIPIA
(instructions hidden in e-mails, tables, web pages and code); the cases are our own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.policy.paths import AnchorDirs

from .decisions import decided

Answer = Literal["allow", "ask", "deny"]
ANSWERS: tuple[Answer, ...] = ("allow", "ask", "deny")


class Case(BaseModel):
    """One attempt: a command, code for the kernel, or a file tool on a path."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    category: str
    expect: Answer
    command: str = ""
    code: str = ""
    path: str = ""
    tool: str = ""
    role: AgentRole = AgentRole.ACTOR
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """As a failing test names it."""
        rules = ", ".join((*self.allow, *(f"not {rule}" for rule in self.deny)))
        what = self.command or self.code or f"{self.tool} {self.path}"
        return f"{self.category}: {self.role}: {what}" + f" [{rules}]" * bool(rules)

    def decision(self, anchors: AnchorDirs) -> Answer:
        """What the gate says to it."""
        tool, parameters = self.tool, {"path": self.path}
        if self.command:
            tool, parameters = "execute_command", {"command": self.command}
        elif self.code:
            tool, parameters = "run_code", {"code": self.code}
        made = decided(
            tool,
            parameters,
            anchors,
            role=self.role,
            allow=self.allow,
            deny=self.deny,
            code=self.code,
        )
        return made.effect.value


def read_cases() -> list[Case]:
    """All of them."""
    lines = Path(__file__).with_name("cases.jsonl").read_text(encoding="utf-8").splitlines()
    return [Case.model_validate_json(line) for line in lines]


def table(answers: Iterable[tuple[str, Answer]]) -> list[str]:
    """How many of each category are allowed, asked about and denied, as lines."""
    counted = Counter(answers)
    categories = list(dict.fromkeys(category for category, _ in counted))
    width = max(map(len, categories))
    lines = [f"{'category':{width}}  allow   ask  deny"]
    for category in categories:
        numbers = "".join(f"{counted[category, answer]:>6}" for answer in ANSWERS)
        lines.append(f"{category:{width}} {numbers}")
    totals = "".join(f"{sum(counted[one, answer] for one in categories):>6}" for answer in ANSWERS)
    return [*lines, f"{'all':{width}} {totals}"]
