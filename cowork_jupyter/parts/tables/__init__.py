"""Tables in files, described and queried by DuckDB in a confined process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...service.parts import Part

if TYPE_CHECKING:
    from ...effects.evaluation import MeasureFile
    from ...tools.base import Tool

TABLE_TOOLS = frozenset({"describe_table", "query_table"})


def table_tools() -> list[Tool]:
    from .tools import describe_table, query_table

    return [describe_table, query_table]


def _measure_file() -> MeasureFile:
    from .expectations import measure_file

    return measure_file


PART = Part(
    requires=("duckdb",), tools=table_tools, tool_names=TABLE_TOOLS, measure_file=_measure_file
)
