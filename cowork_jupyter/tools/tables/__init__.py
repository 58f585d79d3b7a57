"""Tables in files, described and queried by DuckDB in a confined process."""
