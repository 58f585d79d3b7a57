"""An agent: a role with its prompt, its tools and its model, ready to run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from ..bus import Journal
from ..domain.contexts import Context
from ..domain.roles import AgentRole
from ..domain.settings import Settings
from ..llm.client import Model
from ..llm.prompt import DescribedTool, PromptParts, render_prompt
from ..llm.protocols import ToolSpec, request_arguments
from ..llm.tokens import TokenCounter
from ..tools.base import Tool
from ..tools.registry import ToolRegistry
from ..workspace import Workspace
from .hands import Hands
from .limits import Limits
from .log import RunLog
from .loop import AgentLoop, Outcome
from .talk import Talk
from .user import User


@dataclass
class AgentKit:
    """What all agents of one workspace share."""

    settings: Settings
    journal: Journal
    workspace: Workspace
    registry: ToolRegistry
    model: Model
    user: User
    counter: TokenCounter

    def prompt(self, role: AgentRole, context: Context, request: str = "", base: str = "") -> str:
        """The system prompt that this role gets in this context."""
        tools = [DescribedTool(tool.category, spec_of(tool)) for tool in self._tools(role)]
        return render_prompt(
            PromptParts(
                role=role,
                tools=tools,
                base=base,
                protocol=self.settings.tool_protocol,
                facts=self._facts(context),
                request=request,
            )
        )

    async def run(
        self,
        context: Context,
        role: AgentRole,
        job_id: str,
        request: str,
        task_id: str | None = None,
    ) -> Outcome:
        """Let an agent of this role work on what is newest in the context."""
        log = RunLog(self.journal, context.id, job_id, role, task_id)
        limits = Limits(self.settings)
        specs = [spec_of(tool) for tool in self._tools(role)]
        talk = Talk(
            model=self.model,
            log=log,
            limits=limits,
            system=self.prompt(role, context, request),
            model_name=context.model or "",
            arguments=request_arguments(self.settings.tool_protocol, specs, role.spec.formats),
            counter=self.counter,
        )
        hands = Hands(self.registry, self.workspace, log)
        return await AgentLoop(log, talk, hands, self.user, limits).run()

    def _tools(self, role: AgentRole) -> list[Tool]:
        return self.registry.permitted(role)

    def _facts(self, context: Context) -> dict[str, str]:
        facts = {
            "workspace": f"{self.settings.workspace.name} (paths are relative to it)",
            "date": datetime.now(UTC).date().isoformat(),
        }
        return {**facts, "notebook": context.notebook} if context.notebook else facts


def spec_of(tool: Tool) -> ToolSpec:
    """A tool as the model sees it."""
    return ToolSpec(tool.name, tool.description, tool.parameters.model_json_schema())
