"""One run of an agent: ask the model, run the tools it calls, within its limits."""
