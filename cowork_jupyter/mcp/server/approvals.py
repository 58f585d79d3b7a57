"""A call that asks, put to the person in front of the client: a form with one decision.

What comes back is the client's word that its user has filled it in. It allows this call once,
never more, and whatever is not a clear yes is none.
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
    """Whether the client shows forms; one that only names addresses to open does not."""
    modes = client.elicitation if client else None
    return modes is not None and (modes.form is not None or modes.url is None)


def request_of(text: str) -> ElicitRequest:
    """The question as the protocol has it."""
    return ElicitRequest(params=ElicitRequestFormParams(message=text, requested_schema=FORM))


def consent_of(answer: object) -> Consent | None:
    """What was decided; None where the form was closed, or is no answer to this."""
    if not isinstance(answer, ElicitResult) or answer.action == "cancel":
        return None
    content = answer.content or {}
    reason = str(content.get("reason") or "")
    return Consent(answer.action == "accept" and content.get("decision") == ALLOW, reason)
