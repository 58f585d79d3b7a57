"""The Model Context Protocol. `client`: tools of other people's servers for our agents."""
