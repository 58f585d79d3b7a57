"""The agents: the loop that asks the model and acts, and the jobs that run it."""
