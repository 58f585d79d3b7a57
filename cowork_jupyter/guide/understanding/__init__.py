"""What a user means, as requests; and a request in one sentence, which is read back exactly."""

from .sentences import sentence
from .understand import Understanding, understand

__all__ = ["Understanding", "sentence", "understand"]
