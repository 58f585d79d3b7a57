"""`jupyter cowork`: the sub-commands, with Jupyter's own configuration and flags."""

from __future__ import annotations

from typing import Any

from jupyter_core.application import JupyterApp, base_aliases, base_flags
from traitlets import Bool

from .._version import __version__
from ..config import Cowork


class _ConfiguredApp(JupyterApp):
    """Reads the same configuration as the Jupyter server does."""

    version = __version__
    classes = [Cowork]

    def load_config_file(self, suppress_errors: bool = True) -> None:  # type: ignore[override]
        """Also read the server's file, since that is where `c.Cowork` is written."""
        super().load_config_file(suppress_errors)
        own_name = self.config_file_name
        self.config_file_name = "jupyter_server_config"
        super().load_config_file(suppress_errors)
        self.config_file_name = own_name


class DoctorApp(_ConfiguredApp):
    """`jupyter cowork doctor`."""

    name = "jupyter-cowork-doctor"
    description = "Check this installation and say for each part what is right or what to do."
    flags = {**base_flags, "json": ({"DoctorApp": {"as_json": True}}, "Print JSON.")}
    aliases = dict(base_aliases)

    as_json = Bool(False, help="Print one JSON object instead of lines.").tag(config=True)

    def start(self) -> None:
        """Examine, print, and tell by the exit code whether all is well."""
        from .doctor import examine, print_findings

        super().start()
        findings = examine(Cowork(parent=self), self.config)
        print_findings(findings, as_json=self.as_json)
        self.exit(0 if all(finding.ok for finding in findings) else 1)


class CoworkApp(_ConfiguredApp):
    """`jupyter cowork`."""

    name = "jupyter-cowork"
    description = "Cowork for Jupyter: an agent that plans first and acts after you approved."
    subcommands = {
        "doctor": (DoctorApp, "Check this installation."),
    }

    def start(self) -> None:
        """Without a sub-command there is nothing to do but help."""
        super().start()
        self.print_help()
        self.exit(2)


def main(argv: list[str] | None = None, **kwargs: Any) -> None:
    """Run the command line."""
    CoworkApp.launch_instance(argv, **kwargs)
