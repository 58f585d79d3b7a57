"""Ranks texts by the words they share with a request, rare words counting most.

Cheap and predictable rather than clever: it runs before every message.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

MIN_SHARED = 2
"""Shared words needed to be about the same topic; one may be chance."""


def fitness(texts: Sequence[str], request: str) -> list[float]:
    wanted = words(request)
    shared = [wanted & words(text) for text in texts]
    spread = Counter(word for common in shared for word in common)
    return [math.fsum(1 / spread[word] for word in common) for common in shared]


def closest(texts: Sequence[str], request: str, most: int) -> list[str]:
    """The few texts on the request's topic, best first; often none."""
    wanted = _topic_words(request)
    fitting = [text for text in texts if len(wanted & _topic_words(text)) >= MIN_SHARED]
    by_fitness = zip(fitness(fitting, " ".join(wanted)), fitting, strict=True)
    return [text for _, text in sorted(by_fitness, key=lambda pair: -pair[0])[:most]]


@lru_cache(maxsize=1024)
def words(text: str) -> frozenset[str]:
    """The words of a text or of names like `create_issue` and `createIssue`, in the singular."""
    pieces = re.split(r"[\W_]+|(?<=[a-z])(?=[A-Z])", text)
    return frozenset(word.lower().rstrip("s") for word in pieces if len(word) > 2)


def _topic_words(text: str) -> frozenset[str]:
    return words(text) - _STOP_WORDS


_STOP_WORDS = words(
    "about after all and any are before but can each file for from has have into its make more "
    "new not one other out please plan show step than that the then there this use using want "
    "what when where which will with you your"
)
