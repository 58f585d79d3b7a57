"""Data effects: what code did to tables, and warnings about it. Without a model, and bounded."""
