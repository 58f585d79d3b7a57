"""The contract's error object."""

from __future__ import annotations

from cowork_jupyter.domain.errors import Conflict, Forbidden, Unavailable


def test_an_error_is_the_contracts_object() -> None:
    error = Conflict("A job is running.", code="job_running", details={"job_id": "j"})
    assert error.as_dict() == {
        "code": "job_running",
        "message": "A job is running.",
        "retryable": False,
        "details": {"job_id": "j"},
    }


def test_only_what_may_pass_is_worth_another_try() -> None:
    assert not Forbidden("no").retryable
    assert Unavailable("later").retryable
    assert not Unavailable("never", retryable=False).retryable
