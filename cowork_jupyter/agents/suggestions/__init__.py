"""Suggestions for one cell: what is known around it, the question to a model, and its answer."""
