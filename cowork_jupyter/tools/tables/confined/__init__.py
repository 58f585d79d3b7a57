"""What runs in the confined process. It imports nothing of ours: it starts within a moment."""
