"""Analyses what a command line would run, read and write, and what cannot be proved about it.

Two parsers read every line: tree-sitter-bash, which finds commands however deeply nested, and a
small one of our own for the plain part of the language. Only what both agree on is plain.
"""

from .analysis import analyse
from .git import configures_git
from .hosts import ANY_HOST, HOST
from .model import Analysis, CommandEffect, SimpleCommand
from .programs import is_always_allowable, matches_prefix, names_more_programs

__all__ = [
    "ANY_HOST",
    "HOST",
    "Analysis",
    "CommandEffect",
    "SimpleCommand",
    "analyse",
    "configures_git",
    "is_always_allowable",
    "matches_prefix",
    "names_more_programs",
]
