"""What users and workspaces tell agents of how they work: instructions, skills, memory."""
