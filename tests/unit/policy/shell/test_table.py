"""When “Always allow” is offered, and how rules match."""

from __future__ import annotations

import pytest

from cowork_jupyter.policy.shell import analyse, is_always_allowable, matches_prefix


@pytest.mark.parametrize(
    "text", ["ls -l", "git status", "pytest -q", "mytool a", "rm a", "ruff check .", "cp a b"]
)
def test_a_program_that_does_one_thing_may_always_be_allowed(text: str) -> None:
    (command,) = analyse(text).commands
    assert is_always_allowable(command)


NEVER = """
python a.py|python3.12 a.py|/usr/bin/python3 a.py|ipython|node a.js|ruby a.rb|perl -e 1|Rscript a.R
julia a.jl|php a.php|awk 1 a|bash a.sh|sh -c ls|zsh|fish|env|env ls|sudo ls|doas ls|su|npx a|uvx a
uv run a|pipx run a|npm run a|npm exec a|yarn a|pnpm a|bunx a|pip install a|pip list|conda run a
poetry run a|make|make all|xargs ls|find . -exec ls {} +|ssh host|docker run a|podman run a|tmux
time ls|timeout 5 ls|nice ls|eval ls|exec ls|command ls|watch ls|parallel ls|nohup ls|screen|vim a
sqlite3 a|jupyter run a|./a.sh|/tmp/ls|ls $X|cat *|ls $(pwd)|A=1 ls|cargo run|go run a|crontab a
terraform apply|coverage run a.py|ansible-playbook a.yml|gcc a.c|flask run|airflow dags trigger a
git apply a.patch|git merge a|git cherry-pick a|git revert a|git checkout a|git pull|git stash pop
tar xf a.tgz|unzip a.zip|patch -p1
pytest --pastebin=all|pytest --basetemp=a|mypy --install-types|fd a -x ls
"""


@pytest.mark.parametrize("text", NEVER.strip().replace("\n", "|").split("|"))
def test_what_could_run_anything_is_never_always_allowed(text: str) -> None:
    command = analyse(text).commands[0]
    assert not is_always_allowable(command)


@pytest.mark.parametrize(
    ("words", "prefix", "matches"),
    [
        ("git status -s", "git status", True),
        ("git status", "git status", True),
        ("git statusx", "git status", False),
        ("git", "git status", False),
        ("git -C x status", "git status", False),
        ("ls", "", False),
    ],
)
def test_rules_match_whole_words(words: str, prefix: str, matches: bool) -> None:
    assert matches_prefix(words.split(), prefix.split()) is matches
