"""Programs that measure: `bench` how fast, `eval` how well, `soak` for how long."""
