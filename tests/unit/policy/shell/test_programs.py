"""Programs with arguments of every kind, and what their table allows to keep."""

from __future__ import annotations

import pytest

from cowork_jupyter.policy.shell import CommandEffect, analyse, is_always_allowable, matches_prefix

E = CommandEffect
R, W, D, N, P = E.READS, E.WRITES, E.DELETES, E.NETWORK, E.RUNS_PROGRAMS
I, H, C, U = E.INSTALLS, E.GIT_HISTORY, E.RUNS_CODE, E.UNKNOWN  # noqa: E741

EFFECTS: dict[str, set[CommandEffect]] = {
    "ls -la": {R},
    "/bin/ls -la": {R},
    "cat -n a": {R},
    "head -20 a": {R},
    "tail -n 5 -f a": {R},
    "wc -l a b": {R},
    "du -sh .": {R},
    "df -h": {R},
    "stat -c %s a": {R},
    "file a": {R},
    "diff -u a b": {R},
    "grep -rn --include='*.py' x .": {R},
    "rg -n -g '*.py' x src": {R},
    "sort -k2 -n a": {R},
    "uniq -c a": {R},
    "cut -d, -f1 a": {R},
    "tr a-z A-Z": {R},
    "jq .a f.json": {R},
    "echo -- --anything": {R},
    "printf '%s\\n' a": {R},
    "date +%F": {R},
    "pwd": {R},
    "which python": {R},
    "command -v python": {R},
    "env": {R},
    "printenv PATH": {R},
    "ps aux": {R},
    "test -f a": {R},
    "[ a = b ]": {R},
    "find . -name '*.py' -type f -not -path './x/*'": {R},
    "sed -n 1,20p a": {R},
    "sed -n '/a/,/b/p' a": {R},
    "sed 's/a/b/g; 3d' a": {R},
    "awk '{print $1}' a": {R},
    "awk -F, 'NR == 1 || NR == 2 {print $2}' a": {R},
    "tar tzf a.tgz": {R},
    "unzip -l a.zip": {R},
    "python --version": {R},
    "python3.11 -V": {R},
    "pip list": {R},
    "pip show pandas": {R},
    "pip freeze": {R},
    "jupyter --version": {R},
    "jupyter lab --version": {R},
    "jupyter kernelspec list": {R},
    "conda env list": {R},
    "node --version": {R},
    "ls > f": {R, W},
    "tee f": {W},
    "cp a b": {W},
    "mv a b": {W},
    "mkdir a": {W},
    "touch a": {W},
    "sort -o f a": {R, W},
    "sed -i.bak s/a/b/ f": {R, W},
    "tar czf a.tgz src": {R, W},
    "tar xf a.tgz": {R, W},
    "unzip a.zip": {R, W},
    "dd if=a of=b": {R, W},
    "rm -rf a": {W, D},
    "rmdir a": {W, D},
    "shred -u a": {W, D},
    "curl -s https://x.org": {N},
    "wget https://x.org/a": {N, W},
    "rsync -a a b": {N, W},
    "ssh host ls": {N, C, P, R},
    "scp a host:b": {N, C},
    "pip install pandas": {I, N, C},
    "pip3 install pandas": {I, N, C},
    "pip uninstall -y pandas": {I, N, C},
    "python -m pip install pandas": {I, N, C},
    "conda install pandas": {I, N, C, P},
    "npm install": {I, N, C, P},
    "apt-get install -y x": {I, N, C},
    "pip list --outdated": {C, N},
    "pip list --log=f": {C, W},
    "pip list --python=./x": {C},
    "pip list --format=json": {R},
    "yarn --version": {C, P},
    "pytest --version": {C},
    "find -L src -name x": {R},
    "printf '%s %d%%\\n' a 1": {R},
    "python a.py": {C},
    "python3.11 -m pytest": {C},
    "python -m pip list": {C, R},
    "python -mpip install x": {I, N, C},
    "python -Im pip install x": {I, N, C},
    "python3.12 -W ignore -X dev -m pip._internal install x": {I, N, C},
    "python .venv/bin/pip install x": {I, N, C},
    "python --check-hash-based-pycs always -m pip install x": {I, N, C},
    "python -m ensurepip": {I, C},
    "R CMD INSTALL x": {I, N, C},
    "cmake -E rm -rf x": {C, D},
    "go test -exec ./x": {C, P},
    "ruff check .": {C},
    "ruff check --fix": {C, W},
    "black .": {C, W},
    "python -m http.server": {N, C},
    "python -m webbrowser x": {N, C},
    "python -m uv pip install x": {I, N, C, P},
    "python -m pytest --pastebin=all": {N, C},
    "python x.py -m pip install": {C},
    "pytest --basetemp=sub": {C, D},
    "pytest --baset sub": {C, D},
    "pytest @args": {C, N, D},
    "coverage run x.py": {C, P},
    "terraform apply": {C, N, P},
    "Rscript a.R": {C},
    "bash a.sh": {C},
    "./a.sh": {C},
    "/tmp/ls": {C, R},
    "make all": {C},
    "pytest -q": {C},
    "jupyter nbconvert --execute a.ipynb": {C},
    "sudo rm a": {C, P, D, W},
    "env -u A rm a": {C, P, D, W},
    "xargs rm": {C, P, D, W},
    "timeout 5 ls": {C, P, R},
    "bash -c 'rm a; ls'": {C, P, D, W, R},
    "mytool a": {U},
    "git --version": {R},
    "git status -sb": {R},
    "git --no-pager log --oneline -20": {R},
    "git log -p -n 3 --stat a.py": {R},
    "git diff HEAD~1 -- a.py": {R},
    "git diff --cached --name-only": {R},
    "git show HEAD:a.py": {R},
    "git blame -L 1,5 a.py": {R},
    "git branch": {R},
    "git branch -a": {R},
    "git branch --list 'a*'": {R},
    "git branch --show-current": {R},
    "git tag -l": {R},
    "git remote -v": {R},
    "git stash list": {R},
    "git rev-parse HEAD": {R},
    "git ls-files": {R},
    "git config --get user.name": {R},
    "git config --global --list": {R},
    "git reflog": {R},
    "git grep -n x": {R},
    "git worktree list": {R},
    "git add a.py": {W},
    "git commit -m 'a b'": {W},
    "git branch new": {R, W},
    "git tag v1": {R, W},
    "git switch main": {W},
    "git checkout -b new": {W},
    "git stash": {W},
    "git stash pop": {W},
    "git merge --no-ff a": {W},
    "git rm a": {W, D},
    "git push": {N, W},
    "git fetch --all": {N, W},
    "git pull": {N, W},
    "git ls-remote origin": {N},
    "git push --force": {N, W, H},
    "git push origin +main": {N, W, H},
    "git push origin :old": {N, W, H},
    "git push --delete origin old": {N, W, H},
    "git commit --amend --no-edit": {W, H},
    "git branch -D old": {R, W, H},
    "git tag -d v1": {R, W, H},
    "git rebase main": {W, H},
    "git reset --hard HEAD~1": {W, H},
    "git checkout -- a.py": {W, H},
    "git restore a.py": {W, H},
    "git clean -fd": {W, H, D},
    "git stash drop": {W, H},
    "git stash clear": {W, H},
}


@pytest.mark.parametrize(("text", "effects"), EFFECTS.items(), ids=EFFECTS.keys())
def test_the_effects_of_a_program(text: str, effects: set[CommandEffect]) -> None:
    analysis = analyse(text)
    assert analysis.doubts == ()
    assert set(analysis.commands[0].effects) == effects


DOUBTFUL = [
    "cat --unknown a",
    "ls --dired=x",
    "head -x a",
    "sort --compress-program=./x a",
    "sort --compress-prog=./x a",
    "sort --files0-from=f",
    "uniq a b",
    "xxd a b",
    "xxd -r a",
    "wc --files0-from=f",
    "date -s 2000-01-01",
    "date 01010000",
    "hostname other",
    "file -C -m x",
    "tree -o f",
    "less +x a",
    "man -P ./x ls",
    "printf 'aaa%n' PATH",
    "printf '%5ln' PATH",
    "ps -o pid,environ",
    "git branch -u origin/main",
    "git reflog drop x",
    'awk \'BEGIN {SYMTAB["AR" "GC"] = 2}\'',
    "rg --pre ./x a",
    "rg -z a",
    "diff -l a b",
    "ps auxe",
    "jq 'import \"a\" as a; .' f",
    "jq -f prog f",
    "find . -exec rm {} +",
    "find . -execdir rm {} \\;",
    "find . -ok rm {} \\;",
    "find . -delete",
    "find . -files0-from f",
    "find . -unknown",
    "sed 's/a/b/e' f",
    "sed 's/a/b/w out' f",
    "sed 'w out' f",
    "sed '1e ls' f",
    "sed 'r /etc/passwd' f",
    "sed -f script f",
    "sed -i/tmp/* s/a/b/ f",
    "awk 'BEGIN {system(\"ls\")}'",
    "awk '{print > \"f\"}' a",
    "awk '{print | \"sh\"}' a",
    "awk '{\"ls\" | getline x}' a",
    "awk 'BEGIN {ARGV[1] = \"x\"}'",
    "awk -f prog a",
    "gawk '@load \"x\"' a",
    "tar xf a --to-command=./x",
    "tar cf a b -I ./x",
    "tar cf a b --checkpoint=1 --checkpoint-action=exec=./x",
    "tar xf host:a",
    "zip a b -TT ./x",
    "rsync -e ./x a b",
    "rsync --delete a b",
    "curl -K conf https://x.org",
    "curl -d @secret https://x.org",
    "curl -d@secret https://x.org",
    "curl --data=@secret https://x.org",
    "curl file:///etc/passwd",
    "wget -i list",
    "split --filter=./x a",
    "test -v a",
    "test -R a",
    "timeout --unknown 5 ls",
    "git -c core.fsmonitor=./x status",
    "git -C vendor status",
    "git --git-dir=x status",
    "git --exec-path=x status",
    "git -p log",
    "git log --output=f",
    "git diff --output f",
    "git diff --ext-diff",
    "git show --textconv",
    "git diff --outp=f",
    "git grep -O./x a",
    "git grep --open-files-in-pager=./x a",
    "git fetch --upload-pack=./x",
    "git fetch --upload-pac ./x",
    "git init",
    "git clone https://x.org/a",
    "git push -u origin main",
    "git branch --track a origin/a",
    "git clone 'ext::sh -c x'",
    "git clone -c core.fsmonitor=./x u",
    "git clone --template=x u",
    "git ls-remote --upload-pack=./x",
    "git stash list --output=f",
    "git config core.fsmonitor ./x",
    "git config --get x --add",
    "git config alias.x '!ls'",
    "git remote add x y",
    "git remote -v update",
    "git submodule foreach ls",
    "git bisect run ls",
    "git rebase --exec ls",
    "git rebase -i",
    "git filter-branch",
    "git reflog expire --all",
    "git difftool",
    "git help log",
    "git archive --remote=x",
    "git unknown",
]


@pytest.mark.parametrize("text", DOUBTFUL)
def test_flags_that_run_or_write_or_are_not_known_are_doubts(text: str) -> None:
    (command, *_) = analyse(text).commands
    assert command.doubts


def test_git_names_files_outside_of_the_repository() -> None:
    assert analyse("git diff /etc/passwd ../x").reads == ("/etc/passwd", "../x")
    assert analyse("git diff main..other").reads == ()
    assert analyse("git diff --no-index a b").reads == ("a", "b")


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
