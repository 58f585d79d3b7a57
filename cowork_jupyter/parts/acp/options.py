"""What a client can choose for a session: the role (also as the older modes) and the model."""

from __future__ import annotations

from acp import schema

from ...domain.contexts import Context
from ...domain.errors import InvalidInput
from ...domain.roles import AgentRole
from ...service.service import CoworkService

ROLE, MODEL = "role", "model"

Options = list[schema.SessionConfigOptionSelect]


class SessionOptions:
    def __init__(self, service: CoworkService, session_id: str) -> None:
        self._service = service
        self._id = session_id
        self._sent_options = self.all()

    @property
    def _context(self) -> Context:
        return self._service.conversations.get(self._id)

    def modes(self) -> schema.SessionModeState:
        """The roles, for clients that do not know options."""
        return schema.SessionModeState(
            current_mode_id=self._context.role.value,
            available_modes=[
                schema.SessionMode(
                    id=role.value, name=role.spec.label, description=role.spec.description
                )
                for role in self._service.role_catalog.all()
            ],
        )

    def all(self) -> Options:
        return [self._roles(), *self._models()]

    def changes(self) -> schema.ConfigOptionUpdate | None:
        """An update if the options have changed since the client was last told."""
        now, before = self.all(), self._sent_options
        self._sent_options = now
        if now == before:
            return None
        return schema.ConfigOptionUpdate(
            session_update="config_option_update", config_options=[*now]
        )

    async def choose(self, config_id: str, value: str | bool) -> None:
        options = self.all()
        _check(options, config_id, value)
        if value in [option.current_value for option in options if option.id == config_id]:
            return
        conversations = self._service.conversations
        if config_id == ROLE:
            await conversations.switch_role(self._id, AgentRole(str(value)))
        else:
            conversations.change(self._id, model=value)
            self._sent_options = self.all()  # the response tells the client

    def check_vision(self) -> None:
        """Raise InvalidInput unless the model can see pictures."""
        if not self._service.factory.llm.vision.sees(self._model):
            raise InvalidInput(f"{self._model} cannot see pictures. Choose another model.")

    @property
    def _model(self) -> str:
        """The model of the next message; empty if only its server knows."""
        names = self._service.factory.llm.known.names()
        only = names[0] if len(names) == 1 else ""
        return self._context.model or self._service.connections.current().name or only

    def _roles(self) -> schema.SessionConfigOptionSelect:
        return schema.SessionConfigOptionSelect(
            id=ROLE,
            type="select",
            name="Role",
            description="What the agent may do, and what it delivers.",
            category="mode",
            current_value=self._context.role.value,
            options=[
                schema.SessionConfigSelectOption(
                    value=role.value, name=role.spec.label, description=role.spec.description
                )
                for role in self._service.role_catalog.all()
            ],
        )

    def _models(self) -> Options:
        """Empty without a model, and before its server has listed what it has."""
        connections, current = self._service.connections, self._model
        if connections.current().is_built_in or not current:
            return []
        listed = self._service.factory.llm.known.names()
        names = dict.fromkeys([current, *filter(connections.administrator.allows, sorted(listed))])
        option = schema.SessionConfigOptionSelect(
            id=MODEL,
            type="select",
            name="Model",
            description="The language model that the next message goes to.",
            category="model",
            current_value=current,
            options=[schema.SessionConfigSelectOption(value=name, name=name) for name in names],
        )
        return [option]


def _check(options: Options, config_id: str, value: object) -> None:
    """Raise InvalidInput unless this can be chosen."""
    known = {option.id: [choice.value for choice in option.options] for option in options}
    if config_id not in known:
        raise InvalidInput(f"There is no option '{config_id}'. Choose one of: {', '.join(known)}.")
    if value not in known[config_id]:
        choices = ", ".join(known[config_id])
        raise InvalidInput(f"There is no {config_id} '{value}'. Choose one of: {choices}.")
