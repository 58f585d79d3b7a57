"""All rules, over one notebook or file."""

from __future__ import annotations

from .analysis import analysis_remarks
from .habits import error_remarks, except_remarks
from .imports import import_remarks
from .outputs import output_remarks
from .paths import path_remarks
from .secrets import secret_remarks
from .state import state_remarks
from .subject import ReviewRemark, ReviewRule, Subject

RULES: tuple[ReviewRule, ...] = (
    secret_remarks, analysis_remarks, error_remarks, state_remarks, except_remarks, path_remarks,
    output_remarks, import_remarks,
)  # fmt: skip


def remarks_on(subject: Subject) -> list[ReviewRemark]:
    found = (remark for rule in RULES for remark in rule(subject))
    return sorted(found, key=lambda remark: remark.order)
