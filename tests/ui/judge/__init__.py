"""The judge behind every browser test: see `judge.judge`, and `rules` for what it goes by."""
