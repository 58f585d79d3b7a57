"""The guide and a real kernel's DataFrames."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.parts.guide import agent
from cowork_jupyter.parts.guide.answers import answer
from cowork_jupyter.parts.guide.model import NAME, GuideModel
from cowork_jupyter.parts.guide.request import Request
from cowork_jupyter.parts.guide.script import Script
from cowork_jupyter.parts.guide.sources import candidates, described

from .notebook_kernel import NOTEBOOK, PATIENCE, Place
from .notebook_kernel import place as place

FRAME = (
    "import pandas as pd\n"
    "bills = pd.DataFrame({'town': ['Rome', 'Oslo', 'Rome'], 'n': [1.5, 2, 4]})\n"
    "from_file = pd.read_csv('orders.csv').head(1)"
)


@pytest.mark.slow
async def test_a_dataframe_is_a_table_and_is_computed_with(
    place: Place, jp_root_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (jp_root_dir / "orders.csv").write_text("id,total\n1,2\n2,3\n")

    def plan(script: Script) -> str:
        found = candidates(script, script.run.request)
        lines = [f"{each.origin}: {described(each)}" for each in found]
        table = found[0].table
        return "\n".join(
            [*lines, answer(script, Request("aggregate", table, ("n",), groups=("town",)))]
        )

    monkeypatch.setattr(agent, "plan", plan)
    (extension,) = place.app.extension_manager.extension_apps["cowork_jupyter"]
    service = extension.service
    service.factory.llm.model = GuideModel()
    context = service.conversations.create(notebook=NOTEBOOK, model=NAME)

    async def ask() -> str:
        sent = service.send_message(context.id, "sum of n by town", AgentRole.PLANNER)
        await service.jobs.wait(sent.job_id)
        said: str = service.journal.store.messages(context.id).items[-1].text
        return said

    await place.run(FRAME)
    async with asyncio.timeout(PATIENCE):
        said = await extension.thread.run(ask())
    assert said.split("\n\n")[0] == (
        "kernel: `bills` · 3 rows · town, n\n"
        "kernel: `from_file` · 1 row · id, total\n"
        "folder: `orders.csv` · 2 rows · id, total\n"
        "**Sum of `n` by `town` in `bills`**"
    )
    assert "| Rome | 5.50 |" in said
    async with asyncio.timeout(PATIENCE):
        assert await extension.thread.run(ask()) == said
