"""The guide's review: what can be told of notebooks and Python files by rules alone."""

from .reviewer import review

__all__ = ["review"]
