"""Which model is connected. The configuration comes first, then what the user chose, else the
guide.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..agents.run.usage import DayAccount, meter
from ..domain.errors import Conflict, Forbidden, InvalidInput, Unavailable
from ..domain.health import ModelState
from ..domain.operations import Observe, ignore_operation
from ..domain.redaction import Mask, is_real_key, without_credentials
from ..domain.settings import FORM, Connection, Settings
from ..llm.client import observe_answer
from ..llm.keys import Keys
from ..llm.model_probe import HOW_TO_CONNECT, NotReachable, check_key, probe
from ..llm.providers import Provider, provider_at
from ..llm.tokens import TokenCounter
from ..policy.settings_file import WHO, Administrator, SettingsFile
from .parts import built_in_model, local_model

if TYPE_CHECKING:
    from ..llm.chunks import Chunk, ModelRequest
    from ..llm.client import LanguageModel, LocalLanguageModel, ModelTraits

SECTION = "model"
"""Of the user's settings file: `{"local"}`, or `{"base_url", "model"}` and perhaps `{"small_model",
"provider"}`.
"""


class Connections:
    def __init__(self, settings: Settings) -> None:
        self._configured = settings.connection
        self.administrator = Administrator(settings.administrator_settings)
        """Has the last word about which models may be asked."""
        self._file = SettingsFile(settings.user_settings)
        self._keys = Keys()
        self.mask = Mask()
        """Hides every known key, and those in the environment."""
        self._environment_keys = settings.keys
        self._small_model = settings.small_model
        self._hide(settings.api_key, *settings.keys.values())
        self._known: tuple[dict[str, Any], Connection] | None = None

    @property
    def is_configured(self) -> bool:
        """Whether the configuration names a model, so that none can be chosen here."""
        return not self._configured.is_built_in

    def current(self) -> Connection:
        if self.is_configured:
            return self._configured
        content = self._file.content()
        if self._known is None or self._known[0] is not content:
            self._known = (content, self._read(content.get(SECTION)))
        return self._known[1]

    def propose(
        self,
        base_url: str,
        model: str,
        api_key: str = "",
        *,
        small_model: str = "",
        provider: str = "",
    ) -> Connection:
        self._check_open()
        address = base_url.rstrip("/")
        if gap := re.search(r"\{(\w+)\}", address):
            raise InvalidInput(
                f"Replace {gap[0]} in {FORM.address} with the name of your {gap[1]}.",
                code="invalid_address",
                details={"field": "address"},
            )
        if not address.startswith(("http://", "https://")):
            raise InvalidInput(
                f"'{without_credentials(base_url)}' is not a web address. "
                f"{FORM.address} should look like http://localhost:11434/v1.",
                code="invalid_address",
                details={"field": "address"},
            )
        return Connection(
            *(address, model, api_key or self._key(address, provider)),
            fields=FORM,
            small_model=small_model,
            provider=provider,
        )

    def choose(self, proposed: Connection) -> Connection:
        """Use this server from now on, also after a restart."""
        for model in (proposed.model, proposed.small_model):
            self.administrator.check_model(model)
        address, key = proposed.base_url, proposed.api_key
        self._hide(key)
        if key != self._key(address, proposed.provider):
            self._keys.keep(address, key)
        optional = {"small_model": proposed.small_model, "provider": proposed.provider}
        more = {name: value for name, value in optional.items() if value}
        self._file.set(SECTION, {"base_url": address, "model": proposed.model, **more})
        return self.current()

    def with_small_model(self, name: str) -> Connection:
        """The current connection with another small model, not in use yet."""
        self._check_open()
        current = self.current()
        if not current.base_url:
            raise Conflict("No model server is connected. Connect one first.", code="no_model")
        return replace(current, small_model=name)

    def _check_open(self) -> None:
        if self.is_configured:
            fields = self._configured.fields
            raise Conflict(
                f"The {fields.source} names a model, which takes precedence. "
                f"To choose one here, remove {fields} there.",
                code="model_configured",
            )

    def forget(self) -> Connection:
        before = self.current()
        if before.source == "chosen":
            self._keys.drop(before.base_url)
            self._file.set(SECTION, None)
        return self.current()

    def secrets(self) -> list[str]:
        environment = filter(is_real_key, self._environment_keys.values())
        typed = [key for key in (self._configured.api_key, *self._keys.all()) if key]
        return list(dict.fromkeys([*typed, *environment]))

    def has_environment_key(self, provider: Provider) -> bool:
        return provider.key_variable in self._environment_keys

    def _read(self, chosen: object) -> Connection:
        if not isinstance(chosen, dict):
            return Connection()
        base_url, model, local = (chosen.get(key) for key in ("base_url", "model", "local"))
        if isinstance(local, str) and local:
            file = Path(local).expanduser()
            return Connection(model=file.stem, local=file, fields=FORM)
        if not isinstance(base_url, str) or not base_url:
            return Connection()
        small, provider = (_text(chosen.get(key)) for key in ("small_model", "provider"))
        return Connection(
            *(base_url, _text(model), self._key(base_url, provider)),
            fields=FORM,
            small_model=self._small_model or small,
            provider=provider,
        )

    def _key(self, address: str, provider: str) -> str:
        """The key stored for an address, else the chosen provider's from the environment.

        The latter is used for that provider's address alone.
        """
        key = self._keys.get(address)
        whose = provider_at(address)
        if not key and whose and whose.id == provider:
            key = self._environment_keys.get(whose.key_variable, "")
        self._hide(key)
        return key

    def _hide(self, *keys: str) -> None:
        self.mask.add(filter(is_real_key, keys))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


class CurrentModel:
    """The model as agents know it: whatever is connected when they ask."""

    def __init__(
        self,
        connections: Connections,
        options: Mapping[str, Any] | None = None,
        day: DayAccount | None = None,
        observe: Observe = ignore_operation,
    ) -> None:
        """`options` go into every request. `day` counts usage. `observe` hears of each call."""
        self._connections = connections
        self._options = options
        self._day = day
        self._observe = observe
        self._count = TokenCounter()
        self._made: dict[Connection, LanguageModel] = {}
        self._local: dict[Connection, LocalLanguageModel] = {}

    @property
    def name(self) -> str:
        return self._model().name

    @property
    def traits(self) -> ModelTraits:
        return self._model().traits

    async def aclose(self) -> None:
        """Close every model that was ever used."""
        for model in self._made.values():
            await model.aclose()
        self._made.clear()

    def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk, None]:
        """Ask, and yield the answer as it comes. Every request to a model goes through here."""
        model = self._model()
        name = request.model or model.name
        self._connections.administrator.check_model(name)
        hidden = self._connections.mask.everywhere(request.messages)
        answer = model.stream(replace(request, messages=hidden))
        chunks = observe_answer(answer, self._observe, model=name, job_id=request.job_id)
        if self._day is None or not self._day.is_limited or not model.traits.spends_tokens:
            return chunks
        return meter(chunks, request, self._count, partial(self._day.add, model=name))

    def check_direct(self, model: str) -> None:
        """Refuse a request that bypasses us, so that nobody would count its usage."""
        self._connections.administrator.check_model(model or self.name)
        if self._day and self._day.is_limited:
            raise Forbidden(
                f"{WHO} limits usage per day, and requests to this address are not counted. "
                "Ask the agent instead.",
                code="day_limit",
            )

    def local_state(self) -> ModelState | None:
        """The state of a local model, loading included; None if another one is connected."""
        connection = self._connections.current()
        if connection.local is None:
            return None
        try:
            self._model()
        except Unavailable:  # this installation has no local models, and `state_of` says so
            return None
        return self._local[connection].state()

    async def address(self) -> Connection:
        """Where it can be asked directly; a local model is started for that."""
        connection = self._connections.current()
        if connection.is_built_in:
            raise _not_connected()
        if connection.local is None:
            return connection
        self._model()
        return replace(await self._local[connection].address(), fields=connection.fields)

    def _model(self) -> LanguageModel:
        connection = self._connections.current()
        if connection not in self._made:
            self._made[connection] = self._make(connection)
        return self._made[connection]

    def _make(self, connection: Connection) -> LanguageModel:
        if connection.is_built_in:
            if built_in := built_in_model():
                return built_in
            raise _not_connected()
        if connection.local:
            self._local[connection] = local_model(connection.local, self._options)
            return self._local[connection]
        from ..llm.client import Model

        return Model(
            base_url=connection.base_url,
            model=connection.model,
            api_key=connection.api_key,
            fields=connection.fields,
            options=self._options,
        )


def _not_connected() -> Unavailable:
    return Unavailable(HOW_TO_CONNECT, code="no_model", retryable=False)


def state_of(connection: Connection) -> ModelState:
    """The state of a connection, without starting anything."""
    if connection.local:
        try:
            return local_model(connection.local).state()
        except Unavailable as missing:
            return ModelState(
                provider="local",
                name=connection.name,
                base_url=None,
                ready=False,
                why_not=missing.message,
                source=connection.source,
                problem="model",
            )
    if connection.is_built_in and built_in_model() is None:
        refused = {"name": None, "ready": False, "why_not": HOW_TO_CONNECT}
        return probe(connection).model_copy(update=refused)
    return probe(connection)


def verify_connection(proposed: Connection) -> Connection:
    """The connection with its model's name, once the server accepts key and model. Raises
    InvalidInput.
    """
    state = probe(proposed)
    if state.ready and state.name:
        verified = replace(proposed, model=state.name)
        try:
            check_key(verified)
        except NotReachable as failure:
            refused = {"ready": False, "why_not": str(failure), "problem": failure.problem}
            state = state.model_copy(update=refused)
        else:
            check_small_model(verified)
            return verified
    raise InvalidInput(
        state.why_not or "The model does not answer.",
        code="not_connected",
        details={"field": state.problem, "models": state.models},
    )


def check_small_model(proposed: Connection) -> None:
    """Raise InvalidInput with the server's models if it does not have the small one."""
    if not proposed.small_model:
        return
    named = replace(proposed.fields, model="Small model")
    state = probe(replace(proposed, model=proposed.small_model, fields=named))
    if state.problem == "model":
        raise InvalidInput(
            state.why_not or "",
            code="not_connected",
            details={"field": "small_model", "models": state.models},
        )
