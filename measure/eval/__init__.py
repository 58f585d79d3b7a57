"""How often the agent gets a data scientist's questions right, with a real model: `make eval`."""
