"""Agents of others, spoken to over ACP, as sub-agents: they work under a role of ours.

What they ask of us (files, terminals, permissions) goes through the same tools, gate, rules and
checkpoints as what our own agents do. They are programs of the user's own, though: what one does
by itself, without asking us, is not confined.
"""
