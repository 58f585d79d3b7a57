"""The MCP client against real servers: of npm, of the SDK, and some that misbehave."""
