"""The folder the agent works in."""
