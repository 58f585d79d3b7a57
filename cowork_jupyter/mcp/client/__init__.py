"""MCP servers as tools.

Nothing that a server says is trusted: its tools ask, its texts are marked as its own, and what
it sends is bounded. The SDK is imported when the first server is used.
"""
