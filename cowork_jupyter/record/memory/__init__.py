"""What a run that the user kept tells about the workspace: short notes, made by rules alone.

They hold names of files and columns, formats, keys, commands and the user's own words: no value
of the data, and no word of a model.
"""

from .proposals import MemoryProposal, MemoryProposals

__all__ = ["MemoryProposal", "MemoryProposals"]
