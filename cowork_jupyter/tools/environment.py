"""The environment of commands: what programs need to work, and no secrets."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

_ALLOWED = re.compile(
    r"""
    PATH | HOME | USER | LOGNAME | SHELL | TMPDIR | TZ | LANG | LANGUAGE | LC_[A-Z]+
  | VIRTUAL_ENV | CONDA_[A-Z_]+ | PYENV_ROOT | UV_CACHE_DIR
  | PYTHON(PATH|HOME|HASHSEED|UNBUFFERED|IOENCODING|UTF8|DONTWRITEBYTECODE|NOUSERSITE|WARNINGS)
  | (LD|DYLD)_LIBRARY_PATH | DYLD_FALLBACK_LIBRARY_PATH | PKG_CONFIG_PATH
  | SSL_CERT_(FILE|DIR) | REQUESTS_CA_BUNDLE | CURL_CA_BUNDLE
  | (OMP|MKL|OPENBLAS|NUMEXPR)_NUM_THREADS | CUDA_VISIBLE_DEVICES | CUDA_HOME
  | JAVA_HOME | R_HOME | R_LIBS(_USER)? | SPARK_HOME | JULIA_DEPOT_PATH | MPLBACKEND
    """,
    re.VERBOSE,
)
_ADDED = {
    "TERM": "dumb",
    # A folder that looks like a repository could name programs for git to run.
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "safe.bareRepository",
    "GIT_CONFIG_VALUE_0": "explicit",
    # Reading commands must not write the index.
    "GIT_OPTIONAL_LOCKS": "0",
}
_SECRET = re.compile(r"TOKEN|SECRET|PASS|KEY|CRED|AUTH", re.IGNORECASE)


def scrubbed(environment: Mapping[str, str]) -> dict[str, str]:
    """An allowlist, so that secrets with unexpected names stay out too."""
    kept = {
        name: value
        for name, value in environment.items()
        if _ALLOWED.fullmatch(name) and not _SECRET.search(name)
    }
    return kept | _ADDED | {"PATH": _from_the_top(environment.get("PATH", os.defpath))}


def _from_the_top(path: str) -> str:
    """Drop relative entries: a folder could bring its own `ls`."""
    return os.pathsep.join(part for part in path.split(os.pathsep) if part.startswith("/"))
