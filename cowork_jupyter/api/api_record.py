"""The endpoints about the record: plan versus actual, and the conversation as a file."""

from __future__ import annotations

from pydantic import BaseModel

from ..record import Audit, ExportFormat
from .calls import Call
from .models import Name, RequestBody
from .routes import Download, table


class ExportQuery(RequestBody):
    """`GET context/{id}/export`."""

    format: ExportFormat = ExportFormat.JSONL


class AuditQuery(RequestBody):
    """`GET context/{id}/audit`: of the plan that was executed last, or by that job."""

    job_id: Name | None = None


@table.route(
    "GET", "context/{id}/audit", query=AuditQuery, answer=Audit, action="read", kernel=True
)
async def audit(call: Call) -> BaseModel:
    """Each step's planned tools, files, order and time, compared with the actual ones."""
    return await call.service.audit(call.path["id"], call.query.job_id)


@table.route(
    "GET",
    "context/{id}/export",
    query=ExportQuery,
    answer=None,
    downloads=tuple(export_format.content_type for export_format in ExportFormat),
    action="read",
    kernel=True,
)
async def export(call: Call) -> Download:
    """The full record of a conversation, as a file."""
    made = await call.service.export(call.path["id"], call.query.format)
    return Download(made.content_type, made.file_name, made.body)
