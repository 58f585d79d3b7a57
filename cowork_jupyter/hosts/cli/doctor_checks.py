"""What the doctor checks: the installation, and all that the agent needs to work."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from traitlets.config import Config

from ...domain.errors import CoworkError
from ...domain.health import DoctorFinding
from ...domain.plurals import count_of
from ...domain.settings import ENVIRONMENT, Settings
from ...llm.model_probe import HOW_TO_CONNECT, find_servers
from ...policy.rulebook import RuleBook
from ...policy.settings_file import Administrator
from ...policy.trust import Trust
from ...service.connections import Connections, state_of
from ...service.health import folder_problems
from ...service.parts import installed_parts, rule_names
from ...workspace.sandbox.sandbox import Sandbox
from ..config import Cowork
from .bundled_record import read_only
from .installation import examine_installation, finding_of


def examine(config: Cowork, jupyter: Config) -> list[DoctorFinding]:
    """A problem in one place hides none in another."""
    settings = config.settings(workspace=Path.cwd())
    return [
        *examine_installation(jupyter),
        _model(settings),
        _sandbox(settings),
        finding_of("folders", folder_problems(settings), _folders(settings)),
        _rules(settings),
        _database(settings),
        _checkpoints(settings),
        *(part.doctor_check(settings) for part in installed_parts() if part.doctor_check),
    ]


def _folders(settings: Settings) -> str:
    return f"workspace {settings.workspace}, conversations in {settings.database.parent}"


def _rules(settings: Settings) -> DoctorFinding:
    trust = Trust(settings.data_dir / "trust.json", settings.workspace)
    administrator = Administrator(settings.administrator_settings)
    book = RuleBook(settings.workspace, settings.user_settings, trust, rule_names, administrator)
    problems = [*book.problems(), *administrator.problems(Connections(settings).current().model)]
    return finding_of("rules", problems, f"{len(book.all())}, all readable")


def _database(settings: Settings) -> DoctorFinding:
    """Read and check all of it; do not create a missing file."""
    from ...store.database import explain_errors
    from ...store.migrations import refuse_unknown

    path = settings.database
    if not path.exists():
        return DoctorFinding("database", True, f"none yet; the first conversation creates {path}")
    try:
        with explain_errors(path), closing(read_only(path)) as connection:
            refuse_unknown(connection, path)
            problem = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
            if problem != "ok":
                raise sqlite3.DatabaseError(problem)
            count = connection.execute("SELECT count(*) FROM contexts").fetchone()[0]
    except CoworkError as error:
        return DoctorFinding("database", False, error.message)
    return DoctorFinding(
        "database", True, f"{count_of(count, 'conversation')}, all intact, in {path}"
    )


def _checkpoints(settings: Settings) -> DoctorFinding:
    """Read and check all of it; do not create a missing store."""
    from ...checkpoints import checkpoint_folder, verify_checkpoints

    folder = checkpoint_folder(settings)
    if not folder.exists():
        return DoctorFinding("checkpoints", True, "none yet")
    try:
        report = verify_checkpoints(settings)
    except (CoworkError, OSError, sqlite3.Error) as error:
        return DoctorFinding(
            "checkpoints",
            False,
            f"Cannot read the store in {folder}: {error}. If you move it away, you lose the "
            "checkpoints, and nothing else.",
        )
    if report.problems:
        return DoctorFinding("checkpoints", False, f"{' '.join(report.problems)} ({folder})")
    size = f"{report.used / 1e6:,.0f} of at most {settings.checkpoint_total_limit / 1e6:,.0f} MB"
    return DoctorFinding(
        "checkpoints", True, f"{report.checkpoints}, all intact; {size} in {folder}"
    )


def _sandbox(settings: Settings) -> DoctorFinding:
    sandbox = Sandbox(settings)
    wanted = settings.sandbox in ("auto", "none", sandbox.kind)
    asked_for = "" if wanted else f"{settings.sandbox} is configured but not available here. "
    missing = len(sandbox.missing_guarantees())
    gaps = f", with {count_of(missing, 'gap')}, see below" if missing else ""
    return DoctorFinding("sandbox", wanted, f"{asked_for}{sandbox.kind}{gaps}")


def _model(settings: Settings) -> DoctorFinding:
    connection = Connections(settings).current()
    state = state_of(connection)
    if connection.is_built_in:
        guide = f"{state.name}. " if state.ready else ""
        return DoctorFinding("model", state.ready, f"{guide}{_other_models()}")
    if not state.ready:
        return DoctorFinding("model", False, state.why_not or f"{state.name} does not answer")
    if connection.local:
        return DoctorFinding(
            "model", True, f"{state.name}, loaded from {connection.local} on first use"
        )
    return DoctorFinding("model", True, f"{state.name} answers at {state.base_url}")


def _other_models() -> str:
    """What could answer instead of the guide."""
    servers = [f"{server.label} at {server.base_url}" for server in find_servers()]
    if not servers:
        return f"{HOW_TO_CONNECT} Without a browser, set {ENVIRONMENT} and start again."
    return f"Found on this machine: {', '.join(servers)}. To use it, choose it in the Cowork panel."
