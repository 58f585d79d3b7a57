"""The Model Context Protocol. `client`: tools of other people's servers for our agents.
`server`: our tools for agents of others.
"""

TASKS = "io.modelcontextprotocol/tasks"
"""The extension for calls that take long."""
