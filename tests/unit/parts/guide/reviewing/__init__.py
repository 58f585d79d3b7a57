"""The guide's review by rules."""
