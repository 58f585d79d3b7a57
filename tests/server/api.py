"""A client for the tests: speaks JSON, checks the contract's envelope."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import urlencode

JobRecord = dict[str, Any]
PATIENCE = 120
"""Seconds after which a test calls it hanging."""
_FIELDS = {"code", "message", "retryable", "details"}
_OF_OPENAI = {"type", "param"}
_PASSED_THROUGH = ("v1/models", "v1/chat/completions")


class Api:
    """Calls the API as a logged-in user."""

    def __init__(self, client: Any, base_url: str, headers: dict[str, str]) -> None:
        self._client = client
        self._base_url = base_url
        self._headers = headers

    async def fetch(self, method: str, address: str, body: Any = None) -> Any:
        """The raw answer."""
        payload = body if isinstance(body, bytes) or body is None else json.dumps(body)
        if payload is None and method in ("POST", "PUT"):
            payload = "{}"
        return await self._client.fetch(
            f"{self._base_url}cowork/{address}",
            method=method,
            body=payload,
            headers=self._headers,
            raise_error=False,
            allow_nonstandard_methods=True,
        )

    async def call(self, method: str, address: str, body: Any = None, status: int = 200) -> Any:
        """The answer as JSON, which must have this status."""
        answer = await self.fetch(method, address, body)
        assert answer.code == status, (answer.code, answer.body)
        return json.loads(answer.body) if answer.body else None

    async def get(self, address: str, **query: Any) -> Any:
        return await self.call("GET", f"{address}?{urlencode(query)}" if query else address)

    async def post(self, address: str, body: Any = None, status: int = 200) -> Any:
        return await self.call("POST", address, body, status)

    async def delete(self, address: str) -> Any:
        return await self.call("DELETE", address, status=204)

    async def refused(
        self, method: str, address: str, body: Any = None, *, status: int, code: str = ""
    ) -> dict[str, Any]:
        """The error object of a call that must fail this way."""
        answer = await self.fetch(method, address, body)
        assert answer.code == status, (answer.code, answer.body)
        error: dict[str, Any] = json.loads(answer.body)["error"]
        assert set(error) == _FIELDS | (_OF_OPENAI if address in _PASSED_THROUGH else set())
        assert error["code"] == (code or error["code"])
        assert "Traceback" not in error["message"]
        return error

    async def new_context(self, **fields: Any) -> str:
        context = await self.post("context", fields, status=201)
        return str(context["id"])

    async def ended(self, job_id: str) -> JobRecord:
        """The job once it is over."""
        async with asyncio.timeout(PATIENCE):
            while True:
                job: JobRecord = await self.get(f"jobs/{job_id}")
                if job["status"] not in ("running", "waiting"):
                    return job
                await asyncio.sleep(0.02)

    async def first_request(self, context_id: str) -> dict[str, Any]:
        """The first request for permission that comes up."""
        async with asyncio.timeout(PATIENCE):
            while True:
                items = (await self.get(f"context/{context_id}/permissions"))["items"]
                if items:
                    request: dict[str, Any] = items[0]
                    return request
                await asyncio.sleep(0.02)

    async def first_question(self, context_id: str) -> dict[str, Any]:
        """The first question that comes up."""
        async with asyncio.timeout(PATIENCE):
            while True:
                items = (await self.get(f"context/{context_id}/questions"))["items"]
                if items:
                    question: dict[str, Any] = items[0]
                    return question
                await asyncio.sleep(0.02)
