"""What was said in a conversation, as `recall` finds it.

Only what people and agents said: no tool's output, nothing that may hold secrets, and none
of the notes that are between us and the model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..domain.messages import Message, MessageType
from ..domain.replies import Review
from ..llm.relevance import fitness, words
from ..store import Store
from ..tools.base import Remark

EXCERPT = 500
"""Characters of a remark that are given."""


def recollect(store: Store, context_id: str, query: str, limit: int) -> list[Remark]:
    """The remarks that share most with the query, rare words counting most; newer ones first."""
    phrase, wanted = query.casefold().strip(), words(query)
    near = [
        one
        for one in _remarks(store, context_id)
        if phrase in (lowered := one.text.casefold()) or any(word in lowered for word in wanted)
    ]
    scores = fitness([one.text for one in near], query)
    ranked = sorted(
        zip(scores, near, strict=True),
        key=lambda pair: -(pair[0] + (phrase in pair[1].text.casefold())),
    )
    return [replace(one, text=_excerpt(one.text, {phrase} | wanted)) for _, one in ranked[:limit]]


def _remarks(store: Store, context_id: str) -> Iterator[Remark]:
    """All there are, newest first, each once."""
    answered: set[str] = set()
    seen: set[tuple[str | None, str]] = set()
    for message, step_id in store.spoken(context_id):
        if message.message_type is MessageType.ANSWER:
            answered.add(str(message.data.get("question_id")))
        if message.role == "system" or message.data.get("id") in answered or _is_withheld(message):
            continue
        text = _words_of(message).strip()
        if text and (step_id, text) not in seen:
            seen.add((step_id, text))
            speaker = "user" if message.role == "user" else str(message.agent_role or "agent")
            yield Remark(speaker, message.created_at[:16].replace("T", " "), text, step_id)


def _is_withheld(message: Message) -> bool:
    """What may hold secrets, and replies that could not be used."""
    return bool(message.data.get("sensitive") or message.data.get("problem"))


def _words_of(message: Message) -> str:
    data = message.data
    match message.message_type:
        case MessageType.ANSWER:
            return f"{data.get('question', '')} — {data.get('label', message.text)}"
        case MessageType.PLAN:
            actions = (step["action"] for step in data["steps"])
            return "\n".join([f"Plan: {data['goal']}", *(f"- {one}" for one in actions)])
        case MessageType.REVIEW:
            review = Review.model_validate(data)
            return "\n".join([review.summary, *(f"- {one.comment}" for one in review.findings)])
    return message.text


def _excerpt(text: str, looked_for: set[str]) -> str:
    """The part of a text around what was looked for, on one line."""
    line = " ".join(text.split())
    if len(line) <= EXCERPT:
        return line
    lowered = line.casefold()
    places = [place for one in looked_for if (place := lowered.find(one)) >= 0]
    start = min(max(min(places, default=0) - EXCERPT // 4, 0), len(line) - EXCERPT)
    end = start + EXCERPT
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"
