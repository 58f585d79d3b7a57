"""Which of many texts has to do with a request: by the words they share, rare ones counting most.

Cheap and predictable rather than clever: it runs before every message, and the model decides.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

MIN_SHARED = 2
"""Words that a text must share with a request to be about the same; one may be chance."""


def fitness(texts: Sequence[str], request: str) -> list[float]:
    """How well each text fits a request."""
    wanted = words(request)
    shared = [wanted & words(text) for text in texts]
    spread = Counter(word for common in shared for word in common)
    return [math.fsum(1 / spread[word] for word in common) for common in shared]


def closest(texts: Sequence[str], request: str, most: int) -> list[str]:
    """The few that are about the same as the request, best first; often none."""
    wanted = _telling(request)
    fitting = [text for text in texts if len(wanted & _telling(text)) >= MIN_SHARED]
    by_fitness = zip(fitness(fitting, " ".join(wanted)), fitting, strict=True)
    return [text for _, text in sorted(by_fitness, key=lambda pair: -pair[0])[:most]]


@lru_cache(maxsize=1024)
def words(text: str) -> frozenset[str]:
    """The words in text or in names like `create_issue` and `createIssue`, plurals as singulars."""
    found = re.split(r"[\W_]+|(?<=[a-z])(?=[A-Z])", text)
    return frozenset(word.lower().rstrip("s") for word in found if len(word) > 2)


def _telling(text: str) -> frozenset[str]:
    return words(text) - _SAY_LITTLE


_SAY_LITTLE = words(
    "about after all and any are before but can each file for from has have into its make more "
    "new not one other out please plan show step than that the then there this use using want "
    "what when where which will with you your"
)
"""Words that say nothing about what a request or a plan is about."""
