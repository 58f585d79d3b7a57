"""The built-in guide: answers in the place of a model, by rules, with no network and no weights."""

from .model import NAME, Guide

__all__ = ["NAME", "Guide"]
