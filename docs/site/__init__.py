"""How the site is built: `make docs`."""
