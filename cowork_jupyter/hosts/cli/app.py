"""`jupyter cowork`: the sub-commands, with Jupyter's own configuration.

Each sub-command adds a parser whose default `run` takes the settings and the arguments and returns
the exit code. All of them are imported to parse a line, so they import what does the work only when
they run.
"""

from __future__ import annotations

import io
import logging
import os
import re
import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from jupyter_core.application import JupyterApp
from traitlets import TraitError

from ..._version import __version__
from ...domain.errors import CoworkError, InvalidInput
from ...service.parts import installed_parts
from ..config import Cowork, log_below
from . import doctor, record, runs, storage
from .command import FAILED, INTERRUPTED, SUCCESS, USAGE_ERROR, print_problem

COMMANDS = (
    runs.add_plan,
    runs.add_act,
    runs.add_review,
    runs.add_check,
    record.add_audit,
    record.add_export,
    record.add_save,
    storage.add_to,
    doctor.add_to,
)
_LOG_LEVELS = {"--debug": logging.DEBUG, "--verbose": logging.INFO}
"""Accepted before and after the command's name; the first that is there counts."""
_SETTING = re.compile(r"--[A-Z]\w*\.\w+=.*", re.DOTALL)


def command_line() -> ArgumentParser:
    """The parser of everything except the settings, which traitlets reads."""
    parser = ArgumentParser(
        prog="jupyter cowork",
        description="Cowork for Jupyter: an agent that plans first and acts after you approve.",
        epilog="Every command also takes settings, such as --Cowork.max_parallel=2; "
        "--help-all lists them.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=__version__)
    parser.add_argument("--help-all", action="store_true", help="show all settings and exit")
    for option, what in (("--verbose", "what it does"), ("--debug", "all details")):
        parser.add_argument(option, action="store_true", help=f"log {what} to stderr")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    of_parts = (part.add_commands for part in installed_parts())
    for add_command in (*COMMANDS, *filter(None, of_parts)):
        add_command(commands)
    return parser


class CoworkApp(JupyterApp):
    """Reads the same configuration as the Jupyter server does, then runs one command."""

    name = "jupyter-cowork"
    version = __version__
    classes = [Cowork]

    def parse_command_line(self, argv: list[str] | None = None) -> None:
        parser = command_line()
        self._arguments, others = parser.parse_known_args(argv)
        self._enable_log(others)
        others = [other for other in others if other not in _LOG_LEVELS]
        strange = [other for other in others if not _SETTING.fullmatch(other)]
        if self._arguments.help_all or "--help-all" in strange:
            sys.stdout.write(f"{parser.format_help()}\n{Cowork.class_get_help()}\n")
            self.exit(SUCCESS)
        if strange:
            parser.error(f"unrecognized arguments: {' '.join(strange)}")
        super().parse_command_line(others)

    def _enable_log(self, others: list[str]) -> None:
        for option, level in _LOG_LEVELS.items():
            if getattr(self._arguments, option.removeprefix("--")) or option in others:
                self.log_level = level
                log_below(self.log)
                return

    def load_config_file(self, suppress_errors: bool = True) -> None:  # type: ignore[override]
        """Also read the server's file, since that is where `c.Cowork` is written."""
        super().load_config_file(suppress_errors)
        own_name = self.config_file_name
        self.config_file_name = "jupyter_server_config"
        super().load_config_file(suppress_errors)
        self.config_file_name = own_name

    def start(self) -> None:
        super().start()
        self.exit(self._run(self._arguments))

    def _run(self, arguments: Namespace) -> int:
        if "run" not in arguments:
            command_line().print_help(sys.stdout)
            return USAGE_ERROR
        try:
            return int(arguments.run(Cowork(parent=self), arguments))
        except (TraitError, InvalidInput) as error:
            print_problem(str(error))
            return USAGE_ERROR
        except CoworkError as error:
            print_problem(error.message)
            return FAILED
        except KeyboardInterrupt:
            return INTERRUPTED
        except BrokenPipeError:  # the reader closed the pipe
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return FAILED


def main(argv: list[str] | None = None, **kwargs: Any) -> None:
    """Characters that the terminal cannot show are replaced."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    CoworkApp.launch_instance(argv, **kwargs)
