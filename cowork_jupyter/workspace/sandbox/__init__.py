"""Confines commands: where they may write, what they may read, whom they may talk to.

Nothing is imported here: the keeper, a process of its own, is to load only what it needs.
The rest of the package uses `Sandbox` and `Launch` from `.sandbox`.
"""
