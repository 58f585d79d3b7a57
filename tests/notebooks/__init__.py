"""The notebooks that come with Cowork: run from top to bottom, and what is saved in them."""
