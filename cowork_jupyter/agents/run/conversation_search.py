"""Finds what was said in a conversation, for `recall`.

Only what people and agents said: no tool output, which may contain secrets, and no notes between us
and the model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...domain.messages import Answer, Message, PlanData, QuestionData, ReviewData, TextData
from ...llm.relevance import fitness, words
from ...store import Store
from ...tools.base import Remark

EXCERPT = 500


def search_conversation(store: Store, context_id: str, query: str, limit: int) -> list[Remark]:
    """The remarks that match the query best, rare words counting most; ties newest first."""
    phrase, wanted = query.casefold().strip(), words(query)
    near = [
        remark
        for remark in _remarks(store, context_id)
        if phrase in (lowered := remark.text.casefold()) or any(word in lowered for word in wanted)
    ]
    scores = fitness([remark.text for remark in near], query)
    ranked = sorted(
        zip(scores, near, strict=True),
        key=lambda pair: -(pair[0] + (phrase in pair[1].text.casefold())),
    )
    return [
        replace(remark, text=_excerpt(remark.text, {phrase} | wanted))
        for _, remark in ranked[:limit]
    ]


def _remarks(store: Store, context_id: str) -> Iterator[Remark]:
    answered: set[str | None] = set()
    seen: set[tuple[str | None, str]] = set()
    for message, step_id in store.spoken_messages(context_id):
        data = message.data
        if isinstance(data, TextData) and data.answer:
            answered.add(data.answer.question_id)
        is_answered = isinstance(data, QuestionData) and data.id in answered
        text = "" if is_answered or message.role == "system" else _words_of(message).strip()
        if text and (step_id, text) not in seen:
            seen.add((step_id, text))
            speaker = "user" if message.role == "user" else str(message.agent_role or "agent")
            yield Remark(speaker, message.created_at[:16].replace("T", " "), text, step_id)


def _words_of(message: Message) -> str:
    match message.data:
        case TextData(answer=Answer() as answer):
            return f"{answer.question} — {answer.label}"
        case TextData(problem=problem) if problem:
            return ""
        case PlanData(goal=goal, steps=steps):
            return "\n".join([f"Plan: {goal}", *(f"- {step.action}" for step in steps)])
        case ReviewData(summary=summary, findings=findings):
            return "\n".join([summary, *(f"- {finding.comment}" for finding in findings)])
    return message.text


def _excerpt(text: str, looked_for: set[str]) -> str:
    line = " ".join(text.split())
    if len(line) <= EXCERPT:
        return line
    lowered = line.casefold()
    places = [place for term in looked_for if (place := lowered.find(term)) >= 0]
    start = min(max(min(places, default=0) - EXCERPT // 4, 0), len(line) - EXCERPT)
    end = start + EXCERPT
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"
