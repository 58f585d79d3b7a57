"""No route answers a stranger."""

from __future__ import annotations

from typing import Any

import pytest

from cowork_jupyter.server.handlers import ROUTES

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")


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
    return pattern.rstrip("$").replace(".*", "anything")


async def test_every_route_refuses_who_is_not_logged_in(
    jp_serverapp: Any, http_server_client: Any
) -> None:
    patterns = our_patterns(jp_serverapp)
    assert len(patterns) == len(ROUTES)
    for pattern in patterns:
        for method in METHODS:
            answer = await http_server_client.fetch(
                example(pattern),
                method=method,
                allow_nonstandard_methods=True,
                raise_error=False,
            )
            assert answer.code in {401, 403, 405}, f"{method} {pattern} answered {answer.code}"


@pytest.mark.parametrize("token", ["", "wrong"])
async def test_a_wrong_token_is_as_good_as_none(
    jp_serverapp: Any, http_server_client: Any, token: str
) -> None:
    answer = await http_server_client.fetch(
        f"{jp_serverapp.base_url}cowork/health",
        headers={"Authorization": f"token {token}"},
        raise_error=False,
    )
    assert answer.code == 403
