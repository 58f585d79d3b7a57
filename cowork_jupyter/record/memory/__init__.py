"""Notes about the workspace from runs that the user kept, made by rules alone.

They contain names of files and columns, formats, keys, commands and the user's own words: no
value of the data, and no word of a model.
"""

from .proposals import MemoryProposal, MemoryProposals

__all__ = ["MemoryProposal", "MemoryProposals"]
