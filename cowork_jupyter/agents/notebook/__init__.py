"""What a model is told about the notebook that the user is in."""
