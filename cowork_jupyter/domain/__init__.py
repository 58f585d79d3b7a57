"""Values and pure functions that every other part shares. Imports nothing of ours."""
