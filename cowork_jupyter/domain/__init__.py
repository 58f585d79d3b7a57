"""Values and pure functions shared by all packages; imports nothing of ours."""
