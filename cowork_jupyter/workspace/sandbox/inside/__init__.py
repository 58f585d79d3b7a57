"""What runs by itself inside the sandbox."""
