"""No route answers a stranger."""

from __future__ import annotations

from typing import Any

from cowork_jupyter.api import api
from cowork_jupyter.api.routes import table
from cowork_jupyter.hosts.server.extension import CoworkExtension

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")

assert api  # importing it fills the table


def our_patterns(serverapp: Any) -> list[str]:
    """Every pattern below `cowork/` that the running web application serves."""
    rules = [
        rule
        for group in serverapp.web_app.default_router.rules
        for rule in getattr(group.target, "rules", [])
    ]
    patterns = [rule.matcher.regex.pattern for rule in rules if hasattr(rule.matcher, "regex")]
    return [pattern for pattern in patterns if "/cowork/" in pattern]


def example(pattern: str) -> str:
    """An address that the pattern matches."""
    return pattern.rstrip("$").replace("([^/]+)", "x").replace(".*", "anything")


def addresses(serverapp: Any) -> list[str]:
    """One for each pattern of the web application, and one for each route of our table."""
    patterns = our_patterns(serverapp)
    assert len(patterns) == len(CoworkExtension.handlers)
    listed = [f"{serverapp.base_url}cowork/{route.path}" for route in table.routes]
    return [*map(example, patterns), *(one.replace("{", "").replace("}", "") for one in listed)]


async def test_every_route_refuses_who_is_not_logged_in(
    jp_serverapp: Any, http_server_client: Any
) -> None:
    for address in addresses(jp_serverapp):
        for method in METHODS:
            answer = await http_server_client.fetch(
                address, method=method, allow_nonstandard_methods=True, raise_error=False
            )
            assert answer.code in {401, 403, 405}, f"{method} {address} answered {answer.code}"
            # A 405 must come from the web server itself, not from having looked at the route.
            assert answer.code != 405 or "events/ws" in address or "v1/" in address
