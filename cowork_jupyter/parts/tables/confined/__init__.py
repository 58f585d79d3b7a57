"""Runs in the confined process. It imports nothing else of ours, so it starts fast."""
