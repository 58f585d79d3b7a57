"""Notebooks, cell by cell: what they hold, and tools that read and change them."""
