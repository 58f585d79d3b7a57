"""What the core can do without. Each part is a folder beside this file, with one door: `PART` in
its `__init__`, which says what it brings (see `cowork_jupyter.service.parts`).

To take a part off, delete its folder, its tests (`tests/unit/parts/NAME`) and its line here.
`make test-parts` does that with each in turn, and shows that the rest works.
"""

PARTS: dict[str, tuple[str, ...]] = {
    "tables": (),  # tables in files, described and queried by DuckDB
    "warnings": (),  # mistakes in code that works on data
    "guide": ("warnings",),  # answers by rules where no model is connected
    "local_models": (),  # models on this machine, downloaded and served
    "passthrough": (),  # the connected model for other programs, over the OpenAI API
    "dask": ("tables",),  # steps of plans on a Dask cluster
    "instructions": (),  # AGENTS.md and its like; prompts have them in this order
    "skills": (),  # how-tos that agents open when they fit
    "memory": ("warnings",),  # what is remembered about a workspace
    "mentions": (),  # what messages point at with @, looked up and completed
    "suggestions": (),  # code or text for one cell, asked for by a gesture
    "mcp": (),  # servers of others: their tools, resources and prompts
    "acp": (),  # editors that drive the agent over the Agent Client Protocol
    "external_agents": ("mcp",),  # agents of others, to which tasks are handed over
    "mcp_server": (),  # our tools for agents of others, over MCP
    "metrics": (),  # Prometheus metrics and Jupyter events for operators
}
"""Each with the parts that it needs."""
