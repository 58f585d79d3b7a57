"""Notebooks, cell by cell, and the tools that read and change them."""
