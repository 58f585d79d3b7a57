"""Where the tools of plan steps run: here, or on the workers of a cluster."""
