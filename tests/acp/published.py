"""The protocol's published JSON schema, as its own npm package carries it, and whether frames
keep to it: each in its direction, each answer by the method it answers.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Literal

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

SCHEMA = Path(__file__).parent / "node_modules/@agentclientprotocol/sdk/schema/v1/schema.json"

Frame = dict[str, Any]
Side = Literal["agent", "client"]


@cache
def _definitions() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(SCHEMA.read_text())["$defs"]
    return found


@cache
def _names() -> dict[tuple[str, str, str], str]:
    """The definition for each kind of frame: `("session/new", "agent", "Request")`."""
    return {
        (one["x-method"], one["x-side"], kind): name
        for name, one in _definitions().items()
        if "x-method" in one
        for kind in ("Request", "Response", "Notification")
        if name.endswith(kind)
    }


@cache
def _validator(name: str) -> Any:
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": _definitions()})


def check(name: str, value: object) -> None:
    """Whether a value is what the schema calls by this name."""
    problems = [f"{one.json_path}: {one.message}" for one in _validator(name).iter_errors(value)]
    assert not problems, f"no {name}: {problems} in {json.dumps(value)[:2000]}"


class Conversation:
    """Both directions of a connection, in the order in which they were seen."""

    def __init__(self) -> None:
        self.frames: list[tuple[Side, Frame]] = []
        """With who has sent it."""

    def add(self, by: Side, frame: Frame) -> None:
        """Take the next frame."""
        self.frames.append((by, frame))

    def check(self) -> None:
        """Hold every frame against the schema. An answer may have been seen before its
        request was, so requests are looked for first.
        """
        asked = {
            (by, frame["id"]): frame["method"]
            for by, frame in self.frames
            if "method" in frame and "id" in frame
        }
        for by, frame in self.frames:
            assert frame.get("jsonrpc") == "2.0"
            other: Side = "client" if by == "agent" else "agent"
            if frame.get("method") == "$/cancel_request":
                check("CancelRequestNotification", frame["params"])
            elif "method" in frame:
                kind = "Request" if "id" in frame else "Notification"
                check(_names()[frame["method"], other, kind], frame["params"])
            elif "error" in frame:
                check("Error", frame["error"])
            else:
                check(_names()[asked[other, frame["id"]], by, "Response"], frame["result"])

    def updates(self, session_id: str) -> list[Frame]:
        """What the agent has told in a session, in order."""
        return [
            frame["params"]["update"]
            for _, frame in self.frames
            if frame.get("method") == "session/update"
            and frame["params"]["sessionId"] == session_id
        ]
