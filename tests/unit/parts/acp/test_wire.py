"""The standard streams belong to the protocol alone."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.process

PROGRAM = """
import os, subprocess, sys
from cowork_jupyter.parts.acp.wire import take_streams

incoming, outgoing = take_streams()
print("a stray word")
subprocess.run(["cat"])
os.write(1, b"another")
sys.stdout.flush()
outgoing.write(b"a frame: " + incoming.readline())
outgoing.flush()
"""


def test_what_is_printed_and_what_children_read_and_write_stays_out_of_the_protocol() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=b"ours\n", capture_output=True, check=True
    )
    assert done.stdout == b"a frame: ours\n"
    assert b"a stray word" in done.stderr
    assert b"another" in done.stderr
