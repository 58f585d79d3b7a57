"""Data effects: what code did to tables, and warnings about it. Bounded, and without a model."""
