"""What is decided about a call, and what the user is asked."""
