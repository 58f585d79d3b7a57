"""The ceiling, for every role and every set of permissions."""

from __future__ import annotations

from collections.abc import Set

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cowork_jupyter.domain.errors import Forbidden
from cowork_jupyter.domain.roles import AgentRole, Permission
from cowork_jupyter.policy.decision import check_ceiling


@given(st.sampled_from(AgentRole), st.frozensets(st.sampled_from(Permission)))
def test_only_what_the_role_holds_in_full_passes(role: AgentRole, needed: Set[Permission]) -> None:
    if needed <= role.spec.permissions:
        check_ceiling(role, "tool", needed)
        return
    with pytest.raises(Forbidden) as refusal:
        check_ceiling(role, "tool", needed)
    assert not refusal.value.retryable
    assert set(refusal.value.details["missing"]) == needed - role.spec.permissions
