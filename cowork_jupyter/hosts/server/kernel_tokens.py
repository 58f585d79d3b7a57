"""Tokens for kernels, which are not the server's token and permit little.

Each kernel gets one in its environment when it starts, keeps it over restarts, and loses it when it
ends. A process of the same user can find the server's own token anyway, so this is hygiene, not a
security boundary.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from jupyter_server import CallContext

from ...domain.redaction import is_real_key

TOKEN_VARIABLE = "COWORK_KERNEL_TOKEN"  # noqa: S105 (the name of a variable)
URL_VARIABLE = "COWORK_SERVER_URL"
OWN_KEY = "COWORK_API_KEY"
SHARED_KEY = "OPENAI_API_KEY"
"""Never hidden: the user's own code may use it, too."""


class Kernel(NamedTuple):
    id: str
    owner: str


class KernelTokens:
    def __init__(
        self, kernel_manager: Any, server_url: Callable[[], str], own_key: Callable[[], str]
    ) -> None:
        """`server_url` is called late: a server may still move to another port."""
        self._kernel_manager = kernel_manager
        self._server_url = server_url
        self._own_key = own_key
        self._kernels: dict[str, Kernel] = {}

    def wrap_kernel_start(self) -> None:
        """Give every kernel that starts from now on a token, and none of our keys."""
        start_kernel = self._kernel_manager.start_kernel

        async def start_with_token(*args: Any, **kwargs: Any) -> Any:
            token = os.urandom(32).hex()
            ours = {TOKEN_VARIABLE: token, URL_VARIABLE: self._server_url()}
            # A given environment replaces the server's; None means the server's.
            env = kwargs.get("env")
            kwargs["env"] = self._without_keys(os.environ if env is None else env) | ours
            kernel_id = await start_kernel(*args, **kwargs)
            self._forget_the_dead()
            self._kernels[_digest(token)] = Kernel(kernel_id, _who_asks())
            return kernel_id

        self._kernel_manager.start_kernel = start_with_token
        # When a notebook is renamed, Jupyter sets the kernel's whole environment again.
        update_env = getattr(self._kernel_manager, "update_env", None)
        if update_env is not None:
            self._kernel_manager.update_env = lambda *, kernel_id, env: update_env(
                kernel_id=kernel_id, env=self._without_keys(env)
            )

    def _without_keys(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Code in a kernel calls this server and needs no model key. Shared keys stay."""
        hidden = {self._own_key()} - {environment.get(SHARED_KEY)}
        return {
            name: value
            for name, value in environment.items()
            if name != OWN_KEY and not (value in hidden and is_real_key(value))
        }

    def kernel_of(self, token: str) -> Kernel | None:
        """Return None unless a living kernel holds this token."""
        kernel = self._kernels.get(_digest(token))
        return kernel if kernel and kernel.id in self._kernel_manager else None

    def _forget_the_dead(self) -> None:
        living = {
            token: kernel
            for token, kernel in self._kernels.items()
            if kernel.id in self._kernel_manager
        }
        self._kernels = living


def _digest(token: str) -> str:
    """Stored instead of the token, so that lookups leak nothing by their timing."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def _who_asks() -> str:
    """The user of the current request; empty if Jupyter starts a kernel by itself."""
    handler = CallContext.get(CallContext.JUPYTER_HANDLER)
    user = getattr(handler, "current_user", None)
    return str(getattr(user, "username", "") or "")
