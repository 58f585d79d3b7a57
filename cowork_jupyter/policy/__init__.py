"""What is allowed. So far: the ceiling of the roles, which nothing lifts."""
