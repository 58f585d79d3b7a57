"""Ways out of the workspace for the file tools, with a user who says yes to everything."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.scripted import calls

from .cage import SECRET
from .house import House

pytestmark = pytest.mark.asyncio

OUT = {
    "dots": "../outside/precious",
    "dots after a folder": "private/../../outside/precious",
    "many dots": "../" * 30 + "etc/passwd",
    "absolute": "{outside}/precious",
    "absolute with dots": "{root}/../outside/precious",
    "a folder whose name begins alike": "{root}-evil/precious",
    "home": "~/.ssh/id_rsa",
    "another home": "~root/.bashrc",
    "a variable": "$HOME/.bashrc",
    "a link": "link/precious",
    "a link to a file": "file",
    "a chain of links": "l3/precious",
    "a link that goes up": "up/outside/precious",
    "a link to the top": "top/etc/passwd",
    "a link by way of proc": "proc/precious",
    "proc self root": "/proc/self/root{outside}/precious",
    "proc self cwd": "/proc/self/cwd/../outside/precious",
    "proc of another": "/proc/1/root/etc/passwd",
    "dev fd": "/dev/fd/0",
    "two slashes": "/{outside}/precious",
    "a file address": "file://{outside}/precious",
    "backslashes": "..\\outside\\precious",
    "percent signs": "%2e%2e/outside/precious",
    "links in circles": "circle/x",
    "a NUL": "a.py\0/../../outside/precious",
    "a newline": "a.py\n../outside/precious",
    "too long a name": "x" * 300,
    "too long a path": "x/" * 3000 + "y",
    "very deep": "d/" * 1500 + "y",
    "nothing": "",
    "spaces": "   ",
    "broken characters": "\udc80",
}


def furnish(house: House) -> None:
    evil = house.base / "ws-evil"
    evil.mkdir()
    (evil / "precious").write_text("precious")
    links: dict[str, Path | str] = {
        "link": house.outside,
        "file": house.outside / "precious",
        "l1": house.outside,
        "l2": "l1",
        "l3": "l2",
        "up": "..",
        "top": "/",
        "proc": f"/proc/self/root{house.outside}",
        "circle": "circle",
    }
    for name, target in links.items():
        (house.root / name).symlink_to(target)
    house.look()


async def test_a_way_out(house: House) -> None:
    furnish(house)
    house.rule("allow", "*")
    for way, path in OUT.items():
        house.user.decision = "allow" if path.count("/") < 1000 else "deny"
        tools: list[tuple[str, dict[str, str]]] = [
            ("read_file", {}),
            ("update_file", {"content": "taken"}),
            ("list_directory", {}),
            ("grep", {"pattern": "."}),
        ]
        if path != "file":  # these are about the link itself
            tools += [("delete_file", {}), ("get_file_info", {})]
        meant = path.format(outside=house.outside, root=house.root)
        tried = [(tool, {"path": meant, **given}) for tool, given in tools]
        await house.tell(calls(*tried))
        results = house.results()[-len(tried) :]
        assert not any(result["ok"] for result in results), (way, results)
    assert "root:x:0" not in house.sent_to_model()
    assert SECRET not in house.sent_to_model()


@pytest.mark.parametrize("path", ["../loot", "link/loot", "{outside}/loot", "up/loot", "l3/a/loot"])
async def test_a_new_file_outside(house: House, path: str) -> None:
    furnish(house)
    house.rule("allow", "*")
    house.says_yes()
    path = path.format(outside=house.outside)
    assert not (await house.attempt("create_file", path=path, content="x"))["ok"]


async def test_a_command_that_starts_outside(house: House) -> None:
    furnish(house)
    house.says_yes()
    for cwd in ("..", "/", "link", "up", "/proc/self/root", str(house.outside)):
        result = await house.attempt("execute_command", command=house.loot, cwd=cwd)
        assert not result["ok"], cwd


async def test_a_pipe_that_is_read(house: House) -> None:
    os.mkfifo(house.root / "pipe")
    house.look()
    house.says_yes()
    for tool in ("read_file", "get_file_info", "update_file"):
        given = {"content": "x"} if tool == "update_file" else {}
        await house.attempt(tool, path="pipe", **given)
    await house.attempt("grep", pattern="x")


async def test_a_search_that_follows_links_out(house: House) -> None:
    furnish(house)
    house.says_yes()
    for tool, given in (("grep", {"pattern": "precious"}), ("search_code", {"text": "precious"})):
        result = await house.attempt(tool, **given)
        assert result["facts"]["paths"] in ([], ["precious.txt"])


async def test_a_pattern_that_is_a_flag_of_the_search_engine(house: House) -> None:
    """ripgrep gets what the model says as a value, never as a flag."""
    (house.root / "run.sh").write_text(f"#!/bin/sh\n{house.loot}\n")
    (house.root / "run.sh").chmod(0o755)
    house.look()
    for pattern in ("--pre=./run.sh", "-f/etc/passwd", "--hostname-bin=./run.sh", "-e"):
        await house.attempt("grep", pattern=pattern, path=".", glob="*")
        await house.attempt("grep", pattern="x", glob=pattern)
        await house.attempt("search_code", text=pattern)
    assert "root:x:0" not in house.sent_to_model()
