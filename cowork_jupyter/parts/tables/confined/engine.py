"""DuckDB's engine, without the package around it, which takes most of the time of a short query."""

from __future__ import annotations

try:
    import _duckdb as duckdb
except ImportError:  # the name is not a public one
    import duckdb  # type: ignore[no-redef]

__all__ = ["duckdb"]
