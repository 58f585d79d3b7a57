"""Guidance of users and workspaces for agents: instructions, skills, memory."""
