"""Break-ins over HTTP: a kernel that decides for its user, a stranger, a page of somebody else.

A real server with a real kernel, whose token is taken from the kernel's own environment.
"""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from cowork_jupyter.api import api as endpoints
from cowork_jupyter.api.routes import table
from cowork_jupyter.hosts.server.handler import KERNEL_TOKEN_HEADER
from cowork_jupyter.hosts.server.kernel_tokens import TOKEN_VARIABLE
from tests.scripted import Scripted, ScriptedServer, call, plan, text
from tests.server.live import TOKEN, LiveServer, live_server

from .cage import picture, running_with

assert endpoints  # importing it fills the table

PRECIOUS = f"precious-{secrets.token_hex(6)}.txt"
"""A name that is in the command line of nobody else's processes."""
EVIL = "<img src=x onerror=alert(1)><script>alert(2)</script>"


@dataclass
class Site:
    """A running server, its user, and a kernel of theirs."""

    server: LiveServer
    root: Path
    user: httpx.Client
    kernel: httpx.Client
    data: Path

    def context(self, role: str = "actor") -> str:
        return str(self.user.post("context", json={"role": role}).json()["id"])

    def request(self) -> tuple[str, dict[str, Any]]:
        """A conversation in which a call waits for the user."""
        context = self.context()
        self.user.post(f"context/{context}/messages", json={"content": "take it"})
        items = wait(lambda: self.user.get(f"context/{context}/permissions").json()["items"])
        return context, items[0]

    def cancel(self, request: dict[str, Any]) -> None:
        self.user.post(f"jobs/{request['job_id']}/cancel").raise_for_status()


def wait(ask: Callable[[], Any]) -> Any:
    give_up = time.monotonic() + 60
    while not (found := ask()):
        assert time.monotonic() < give_up
        time.sleep(0.02)
    return found


def answer(body: dict[str, Any]) -> Scripted:
    """A model that wants to delete; as a planner it plans, as a commander it delegates."""
    system, said = body["messages"][0]["content"], json.dumps(body["messages"])
    if "PLANNER role" in system:
        return plan(EVIL, {"action": EVIL, "tools_needed": ["delete_file"], "files": [EVIL]})
    if "was not run" in said or "Result of" in said:
        return text("Then not.")
    if "COMMANDER role" in system:
        return call("delegate", role="actor", task="Delete it.")
    return call("delete_file", path=PRECIOUS)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    (folder / "root").mkdir()
    (folder / "root" / PRECIOUS).write_text("precious\n")
    with ScriptedServer(answer) as model:
        environment = {"COWORK_BASE_URL": model.base_url, "COWORK_MODEL": "scripted"}
        with live_server(folder, environment=environment) as server:
            headers = {"Authorization": f"token {TOKEN}"}
            with (
                httpx.Client(base_url=server.api, headers=headers, timeout=60) as user,
                httpx.Client(base_url=server.api, timeout=60) as kernel,
            ):
                # With the same client, because its cookie says who the user is.
                user.post(f"{server.url}api/kernels", json={}).raise_for_status()
                token = wait(lambda: token_of_a_kernel(server.process_id))
                kernel.headers[KERNEL_TOKEN_HEADER] = token
                assert kernel.get("health").status_code == 200, "it is a kernel's token"
                yield Site(server, folder / "root", user, kernel, folder / "DATA")


def token_of_a_kernel(server: int) -> str:
    """From the environment of the server's child, where the kernel itself finds it."""
    for entry in Path("/proc").iterdir():
        try:
            parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
            pairs = (entry / "environ").read_bytes().split(b"\0")
        except (OSError, IndexError):
            continue
        for name, _, value in (pair.partition(b"=") for pair in pairs):
            if int(parent) == server and name.decode() == TOKEN_VARIABLE:
                return value.decode()
    return ""


@pytest.fixture(autouse=True)
def untouched(site: Site) -> Iterator[None]:
    """After each test: the disk is as it was, and nothing runs that should not."""
    before = picture(site.root)
    yield
    assert picture(site.root) == before
    assert running_with(PRECIOUS) == []


# A kernel that decides for its user


def test_a_kernel_that_allows_a_call(site: Site) -> None:
    _, request = site.request()
    body = {"decision": "allow", "scope": "once"}
    assert site.kernel.post(f"permissions/{request['id']}", json=body).status_code == 403
    both = {"ids": [request["id"]], **body}
    assert site.kernel.post("permissions", json=both).status_code == 403
    site.cancel(request)


def test_a_kernel_that_rewrites_the_plan(site: Site) -> None:
    context = site.context("planner")
    body = {"plan": {"goal": "g", "steps": []}, "revision": 0}
    assert site.kernel.put(f"context/{context}/plan", json=body).status_code == 403
    assert site.user.get(f"context/{context}/plan").json()["plan"] is None


def test_a_kernel_that_asks_an_actor_is_asked_like_anybody(site: Site) -> None:
    """That somebody chose the actor is no leave for what it then does."""
    context = site.context("planner")
    switch = site.kernel.post(f"context/{context}/role", json={"role": "actor"})
    assert switch.status_code == 403
    body = {"content": "take it", "role": "actor"}
    raised = site.kernel.post(f"context/{context}/messages", json=body)
    assert raised.json()["error"]["code"] == "role_raise"
    site.user.post(f"context/{context}/role", json={"role": "actor"}).raise_for_status()
    site.kernel.post(f"context/{context}/messages", json=body).raise_for_status()
    items = wait(lambda: site.user.get(f"context/{context}/permissions").json()["items"])
    body = {"decision": "allow", "scope": "once"}
    assert site.kernel.post(f"permissions/{items[0]['id']}", json=body).status_code == 403
    site.cancel(items[0])


def test_a_kernel_that_brings_its_own_policy(site: Site) -> None:
    context = site.context()
    policy = {"permissions": {"allow": ["*"]}}
    for more in ({"policy": policy}, {"rules": ["*"]}, {"approved": True}):
        body = {"content": "take it", **more}
        assert site.kernel.post(f"context/{context}/messages", json=body).status_code == 422
    assert site.user.get(f"context/{context}/jobs").json()["items"] == []


def test_every_route_that_is_not_for_kernels(site: Site) -> None:
    for route in table.routes:
        if not route.kernel:
            address = route.path.replace("{", "").replace("}", "")
            sent = site.kernel.request(route.method, address, json={})
            assert sent.status_code == 403, route.path


def test_a_kernel_in_the_conversation_of_another_user(site: Site) -> None:
    context, request = site.request()
    (database,) = site.data.rglob("cowork.sqlite")
    with sqlite3.connect(database, timeout=30) as connection:
        connection.execute("UPDATE owners SET owner = 'somebody' WHERE context_id = ?", (context,))
    connection.close()
    for address in ("", "/messages", "/events", "/plan", "/jobs", "/audit", "/export"):
        assert site.kernel.get(f"context/{context}{address}").status_code == 404, address
    for address in (f"jobs/{request['job_id']}", f"jobs/{request['job_id']}/card"):
        assert site.kernel.get(address).status_code == 404, address
    body = {"content": "take it"}
    assert site.kernel.post(f"context/{context}/messages", json=body).status_code == 404
    assert site.kernel.post(f"jobs/{request['job_id']}/cancel").status_code == 404
    switch = site.kernel.post(f"context/{context}/role", json={"role": "planner"})
    assert switch.status_code == 404
    execute = site.kernel.post(f"context/{context}/plan/execute", json={"revision": 1})
    assert execute.status_code == 404
    assert context not in str(site.kernel.get("context").json())
    site.cancel(request)


def test_a_kernels_token_used_as_the_servers(site: Site) -> None:
    token = site.kernel.headers[KERNEL_TOKEN_HEADER]
    for headers in ({"Authorization": f"token {token}"}, {"Authorization": f"Bearer {token}"}):
        with httpx.Client(base_url=site.server.url, headers=headers, timeout=60) as thief:
            for address in ("api/contents", "api/kernels", "api/terminals", "cowork/rules"):
                assert thief.get(address).status_code in (302, 403), address
    with httpx.Client(base_url=site.server.url, timeout=60) as thief:
        thief.headers[KERNEL_TOKEN_HEADER] = token
        assert thief.get("api/contents").status_code in (302, 403)


# Strangers


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "token wrong"},
        {KERNEL_TOKEN_HEADER: ""},
        {KERNEL_TOKEN_HEADER: "0" * 64},
        {"X-Forwarded-User": "admin"},
        {"Cookie": "username-localhost=admin; _xsrf=x", "X-XSRFToken": "x"},
    ],
    ids=str,
)
def test_a_stranger(site: Site, headers: dict[str, str]) -> None:
    with httpx.Client(base_url=site.server.api, headers=headers, timeout=60) as stranger:
        for route in table.routes:
            address = route.path.replace("{", "").replace("}", "")
            sent = stranger.request(route.method, address, json={})
            assert sent.status_code in (302, 403), (route.method, route.path)


def test_a_page_of_somebody_else(site: Site) -> None:
    """A browser that is logged in, on a page that is not ours."""
    with httpx.Client(base_url=site.server.url, timeout=60) as browser:
        browser.get("lab", params={"token": TOKEN}, follow_redirects=False)
        browser.get("login", params={"token": TOKEN}, follow_redirects=True)
        evil = {"Origin": "http://evil.example", "Referer": "http://evil.example/x"}
        rule = json.dumps({"effect": "allow", "rule": "*", "scope": "session"})
        for kind in ("text/plain", "application/x-www-form-urlencoded", "application/json"):
            headers = {**evil, "Content-Type": kind}
            sent = browser.post("cowork/rules", content=rule, headers=headers)
            assert sent.status_code in (302, 403, 404), kind
    assert site.user.get("rules").json()["items"] == []


# Odd requests


@pytest.mark.parametrize(
    "odd",
    [
        "..%2f..%2fetc",
        "%00",
        "perm_%27%20OR%201=1",
        "x" * 5000,
        "%f0%9f%92%a5",
        "a%2fb",
        "%0d%0aX:1",
    ],
)
def test_an_id_that_is_none(site: Site, odd: str) -> None:
    for method, address, body in (
        ("POST", f"permissions/{odd}", {"decision": "allow"}),
        ("POST", f"questions/{odd}/answer", {"value": "allow"}),
        ("DELETE", f"rules/{odd}", None),
        ("GET", f"context/{odd}", None),
        ("GET", f"context/{odd}/permissions", None),
        ("POST", f"checkpoints/{odd}/rollback", {}),
        ("GET", f"jobs/{odd}", None),
    ):
        sent = site.user.request(method, address, json=body)
        assert 400 <= sent.status_code < 500, (method, address, sent.text)


def test_a_decision_for_the_request_of_another_conversation(site: Site) -> None:
    """Requests are found by their own id alone; one job's answer is no other's."""
    _, one = site.request()
    _, other = site.request()
    body = {"decision": "deny", "scope": "once"}
    assert site.user.post(f"permissions/{one['id']}", json=body).json()["status"] == "denied"
    left = site.user.get(f"context/{other['context_id']}/permissions").json()["items"]
    assert [item["id"] for item in left] == [other["id"]]
    again = site.user.post(f"permissions/{one['id']}", json={**body, "decision": "allow"})
    assert again.status_code == 409
    site.cancel(other)


def test_a_batch_of_ten_thousand_requests(site: Site) -> None:
    body = {"ids": ["perm_x"] * 10_000, "decision": "allow", "scope": "once"}
    assert site.user.post("permissions", json=body).status_code == 422


def test_a_plan_with_script_in_it_is_served_as_data(site: Site) -> None:
    context = site.context("planner")
    job = site.user.post(f"context/{context}/messages", json={"content": "plan"}).json()["job_id"]
    wait(lambda: site.user.get(f"jobs/{job}").json()["status"] == "completed")
    for address in ("plan", "messages", "export?format=md", "export?format=ipynb", "events"):
        sent = site.user.get(f"context/{context}/{address}")
        assert "html" not in sent.headers["content-type"], address
        assert sent.headers["x-content-type-options"] == "nosniff", address
    assert site.user.get(f"context/{context}/plan").json()["plan"]["goal"] == EVIL


def test_a_title_with_script_in_a_refusal(site: Site) -> None:
    """Errors are JSON too, whatever they repeat."""
    sent = site.user.get(f"context/{EVIL}")
    assert sent.status_code == 404
    assert "json" in sent.headers["content-type"]
    sent = site.user.post("context", json={"title": EVIL, "role": EVIL})
    assert sent.status_code == 422
    assert "json" in sent.headers["content-type"]


def test_tokens_are_not_in_the_servers_log(site: Site) -> None:
    token = site.kernel.headers[KERNEL_TOKEN_HEADER]
    assert token not in site.server.log
    assert os.environ.get(TOKEN_VARIABLE) is None
