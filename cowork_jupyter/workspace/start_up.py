"""What other programs run, or read as their settings, without being told to: by place and kind.

Hidden names are settings unless they are known to be nothing of the kind: a list of all programs
that keep some in a folder would always be too short.
"""

from __future__ import annotations

import re
from typing import Literal

Kind = Literal["own", "git", "environment", "settings"]
"""Ours and Jupyter's, a repository, installed packages, anything else."""

_AGENTS = (
    *(".agent", ".agents", ".aider.conf.yml", ".amp", ".augment", ".claude", ".cline"),
    *(".clinerules", ".codeium", ".codex", ".continue", ".cursor", ".cursorrules", ".gemini"),
    *(".goose", ".junie", ".kilocode", ".kiro", ".mcp.json", ".opencode", ".qwen", ".roo"),
    *(".trae", ".windsurf", "opencode.json", "opencode.jsonc", "crush.json"),
)  # fmt: skip
_EDITORS = (".devcontainer", ".fleet", ".idea", ".nova", ".vs", ".vscode", ".zed")
_SHELLS = (
    *(".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile"),
    *(".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc"),
    *(".login", ".xprofile", ".xinitrc", ".xsession", ".inputrc", ".pythonrc", ".pythonstartup"),
    *(".envrc", ".direnv", ".env", ".mise", ".mise.toml", "mise.toml", ".tool-versions"),
)  # fmt: skip
_LANGUAGES = (
    *("sitecustomize.py", "usercustomize.py", "pyvenv.cfg", "conda-meta", ".pdbrc", ".pylintrc"),
    *(".condarc", ".rprofile", ".renviron", ".rdata", ".npmrc", ".yarnrc", ".yarnrc.yml"),
    *(".pnpmfile.cjs", ".gdbinit", ".lldbinit", ".ghci", ".vimrc", ".exrc", ".dir-locals.el"),
    *("latexmkrc",),
)  # fmt: skip
_ON_COMMIT = (".husky", ".github", ".gitlab-ci.yml", ".circleci", ".pre-commit-config.yaml")
KNOWN = {
    **dict.fromkeys((".cowork",), "it holds Cowork's own settings"),
    **dict.fromkeys((".jupyter", ".ipython"), "Jupyter runs code from there when it starts"),
    ".git": "version control keeps its hooks and history there",
    **dict.fromkeys(_AGENTS, "it tells agents what to do, and names programs that they start"),
    **dict.fromkeys(_EDITORS, "an editor runs tasks from there"),
    **dict.fromkeys((*_SHELLS, *_LANGUAGES), "it runs automatically when a program starts"),
    **dict.fromkeys(_ON_COMMIT, "it runs with commits, or where they are pushed"),
    "kernel.json": "Jupyter starts the program named there",
}
_OWN = frozenset({".cowork", ".jupyter", ".ipython"})
ENVIRONMENT_MARKS = frozenset({"pyvenv.cfg", "conda-meta"})
"""What makes a folder one of installed packages."""
_HIDDEN = "programs read hidden files and folders as their settings"

HARMLESS = frozenset(
    (
        # What version control and builds leave out or in
        *(".gitignore", ".gitattributes", ".gitmodules", ".gitkeep", ".keep", ".dockerignore"),
        *(".npmignore", ".editorconfig", ".nojekyll", ".python-version", ".env.example"),
        *(".env.sample", ".env.template", ".env.dist", ".ds_store", ".rhistory"),
        # Caches, and the state of data tools
        *(".cache", ".npm", ".cargo", ".trash", ".tox", ".nox", ".eggs", ".ipynb_checkpoints"),
        *(".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".coverage", ".benchmarks"),
        *(".virtual_documents", ".jupyter_cache", ".quarto", ".rproj.user", ".joblib", ".tmp"),
        *(".dvc", ".snakemake", ".nextflow", ".metaflow", ".mlflow", ".prefect", ".luigi"),
        *(".zarray", ".zattrs", ".zgroup", ".zmetadata", ".parcel-cache", ".next", ".ccache"),
    )
)
_HARMLESS_PATTERN = re.compile(
    r"\.coverage\..+ | \.(_|\#|~|nfs|fuse_hidden|goutputstream-|cowork-[0-9a-f]{16}\.tmp).* "
    r"| .+\.(log|lock|lck|db|sqlite3?|tmp|temp|swp|bak|pid|crc|csv|tsv|parquet|feather|arrow)",
    re.VERBOSE,
)


def known_start_up(name: str) -> str | None:
    """Why a file or folder of this (casefolded) name runs or is read later; None if it is not."""
    if why := KNOWN.get(name):
        return why
    if name.endswith(".pth"):
        return "Python runs code from it when it starts"
    if name.endswith((".code-workspace", ".sublime-project")):
        return "an editor runs tasks from there"
    if name.startswith(("jupyter", "ipython")) and name.endswith(("_config.py", "_config.json")):
        return "Jupyter runs it when it starts there"
    if name.startswith(".env.") and name not in HARMLESS:
        return "programs read it when they start"
    return None


def start_up(name: str) -> str | None:
    """The same, also for hidden names that nobody knows."""
    why = known_start_up(name)
    if why or not name.startswith("."):
        return why
    return None if name in HARMLESS or _HARMLESS_PATTERN.fullmatch(name) else _HIDDEN


def kind_of(name: str) -> Kind:
    if name in _OWN:
        return "own"
    return "git" if name == ".git" else "settings"
