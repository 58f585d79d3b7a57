"""Plans: made, approved, and carried out step by step."""
