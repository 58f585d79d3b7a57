"""What users point at with `@` and call with `/`: completed as they type, looked up when sent."""
