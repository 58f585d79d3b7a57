"""The API behind each way to log in and under each address, as a browser meets it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import websocket
from jupyter_server.auth.security import passwd

from .live import TOKEN, LiveServer, live_server

PASSWORD = "open sesame"
WITH_PASSWORD = f"--PasswordIdentityProvider.hashed_password={passwd(PASSWORD)}"
BASES = [
    *(pytest.param(base, marks=pytest.mark.slow) for base in ("/", "/user/name/")),
    "/hub/user/cowork/",
]
"""Plain; behind a JupyterHub; and one that a careless search for our own path would trip over."""


@pytest.fixture(scope="module", params=BASES)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LiveServer]:
    """Opens with a token."""
    with live_server(tmp_path_factory.mktemp("server"), base_url=request.param) as live:
        yield live


@pytest.fixture
def visitor(server: LiveServer) -> Iterator[httpx.Client]:
    """A browser that knows no more than the address."""
    with httpx.Client(base_url=server.url, follow_redirects=True, timeout=60) as client:
        yield client


@pytest.fixture
def user(visitor: httpx.Client) -> httpx.Client:
    """A browser that has followed the link with the token, and holds nothing but its cookies."""
    visitor.get("tree", params={"token": TOKEN})
    return visitor


def xsrf(client: httpx.Client) -> dict[str, str]:
    """The header that only pages of the server itself can set."""
    return {"X-XSRFToken": client.cookies["_xsrf"]}


def works_for(client: httpx.Client) -> bool:
    """Whether reading goes without more ado, and writing with the XSRF token only."""
    assert client.get("cowork/health").status_code == 200
    assert client.post("cowork/context", json={}).status_code == 403
    created = client.post("cowork/context", json={}, headers=xsrf(client))
    assert created.status_code == 201
    address = f"cowork/context/{created.json()['id']}"
    return bool(client.get(address).json() == created.json())


def refused(answer: httpx.Response) -> bool:
    """Whether that is the contract's error, of somebody who may not."""
    return answer.status_code in {403, 404} and set(answer.json()) == {"error"}


def test_a_stranger_is_refused(visitor: httpx.Client) -> None:
    assert refused(visitor.get("cowork/health"))
    visitor.get("login")  # gives an XSRF cookie to everybody
    assert refused(visitor.post("cowork/context", json={}, headers=xsrf(visitor)))


def test_a_visit_with_the_token_opens_the_api(user: httpx.Client) -> None:
    assert works_for(user)


def test_the_token_in_a_header_needs_no_cookie(visitor: httpx.Client) -> None:
    visitor.headers["Authorization"] = f"token {TOKEN}"
    assert visitor.post("cowork/context", json={}).status_code == 201


def test_a_password_opens_the_api(tmp_path: Path) -> None:
    with (
        live_server(tmp_path, WITH_PASSWORD, token="", base_url="/user/name/") as server,
        httpx.Client(base_url=server.url, follow_redirects=True, timeout=60) as client,
    ):
        client.get("login")
        form = {"_xsrf": client.cookies["_xsrf"], "password": "wrong"}
        assert client.post("login", data=form).status_code == 401
        assert refused(client.get("cowork/health"))
        client.post("login", data={**form, "password": PASSWORD})
        assert works_for(client)


def test_only_what_jupyters_own_clients_add_to_an_address_is_let_pass(user: httpx.Client) -> None:
    assert user.get("cowork/health?1763173400000").status_code == 200
    assert user.get("cowork/roles?no_track_activity=1&1763173400000").status_code == 200
    assert user.get("cowork/roles?1763173400000=1").status_code == 422
    assert user.get("cowork/context?limit=1&limit=2").status_code == 422


def test_another_site_cannot_call_with_the_users_cookie(user: httpx.Client) -> None:
    elsewhere = {"Origin": "http://evil.example", **xsrf(user)}
    before = user.get("cowork/context").json()
    assert refused(user.get("cowork/health", headers=elsewhere))
    assert refused(user.post("cowork/context", json={}, headers=elsewhere))
    assert user.get("cowork/context").json() == before


def test_another_name_for_this_machine_is_refused(user: httpx.Client) -> None:
    """A foreign page whose name was made to point here sends that name as Host."""
    rebound = {"Host": "evil.example", **xsrf(user)}
    assert refused(user.get("cowork/health", headers=rebound))
    assert refused(user.post("cowork/context", json={}, headers=rebound))


@pytest.mark.parametrize("address", ["context/{id}/events/ws", "ws"])
@pytest.mark.parametrize(
    ("origin", "host"),
    [("http://evil.example", None), ("http://evil.example", "evil.example")],
    ids=["foreign origin", "foreign host"],
)
def test_a_foreign_page_gets_no_socket(
    server: LiveServer, user: httpx.Client, address: str, origin: str, host: str | None
) -> None:
    with pytest.raises(websocket.WebSocketBadStatusException) as refusal:
        open_socket(server, user, address, origin, host)
    assert refusal.value.status_code == 403


@pytest.mark.parametrize("address", ["context/{id}/events/ws", "ws"])
def test_a_page_of_the_server_gets_a_socket(
    server: LiveServer, user: httpx.Client, address: str
) -> None:
    origin = server.url.removesuffix(user.base_url.path)
    open_socket(server, user, address, origin).close()


def open_socket(
    server: LiveServer, user: httpx.Client, address: str, origin: str, host: str | None = None
) -> websocket.WebSocket:
    """A socket, of a new context where it is of one, asked for with the user's cookies."""
    context = user.post("cowork/context", json={}, headers=xsrf(user)).json()["id"]
    return websocket.create_connection(
        f"{server.api}{address.format(id=context)}".replace("http", "ws", 1),
        cookie="; ".join(f"{name}={value}" for name, value in user.cookies.items()),
        origin=origin,
        host=host,
        timeout=60,
    )
