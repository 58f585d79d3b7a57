"""Approval of a call by the client's user: a form with one decision.

The answer is the client's word that its user has filled it in. It allows this call once, never
more, and only by a clear yes.
"""

from __future__ import annotations

from typing import Any

from mcp_types import ClientCapabilities, ElicitRequest, ElicitRequestFormParams, ElicitResult

from .tool_host import Consent

ALLOW, DENY = "allow", "deny"

FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "decision": {"type": "string", "title": "Allow this call, once?", "enum": [ALLOW, DENY]},
        "reason": {"type": "string", "title": "Reason, for the agent"},
    },
    "required": ["decision"],
}


def can_ask(client: ClientCapabilities | None) -> bool:
    """Whether the client shows forms; one that only opens URLs does not."""
    modes = client.elicitation if client else None
    return modes is not None and (modes.form is not None or modes.url is None)


def request_of(text: str) -> ElicitRequest:
    return ElicitRequest(params=ElicitRequestFormParams(message=text, requested_schema=FORM))


def consent_of(answer: object) -> Consent | None:
    """None if the form was closed, or this is not an answer to it."""
    if not isinstance(answer, ElicitResult) or answer.action == "cancel":
        return None
    content = answer.content or {}
    reason = str(content.get("reason") or "")
    return Consent(answer.action == "accept" and content.get("decision") == ALLOW, reason)
