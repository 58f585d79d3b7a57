"""Tests of what can be taken off, each beside its part."""
