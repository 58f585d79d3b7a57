"""The Model Context Protocol. `client`: tools of foreign servers for our agents. `server`: our
tools for foreign agents.
"""

TASKS = "io.modelcontextprotocol/tasks"
"""The extension for long-running calls."""
