"""From a text to requests: recipes, and questions where they do not use every word."""

from .reader import RequestReading, is_question, read
from .sentences import sentence, step_title

__all__ = ["RequestReading", "is_question", "read", "sentence", "step_title"]
