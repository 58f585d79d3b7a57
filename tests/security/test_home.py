"""The home folder is closed: a command sees only what it needs to run, whatever is kept there."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import pytest

from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.policy.shell.model import names
from cowork_jupyter.tools.base import CallAuthorization, ToolContext
from cowork_jupyter.tools.kernel.scratch_kernel import ScratchKernels
from cowork_jupyter.tools.registry import default_tools
from cowork_jupyter.workspace import Workspace

from .cage import SECRET, WAYS, Cage, picture, python
from .house import House

pytestmark = pytest.mark.asyncio

CREDENTIALS = names("""
    .ssh/id_ed25519 .ssh/config .gnupg/private-keys-v1.d/k .aws/credentials .aws/sso/cache/t.json
    .azure/accessTokens.json .oci/config .boto .s3cfg .config/gcloud/application_default.json
    .config/gh/hosts.yml .config/hub .config/glab-cli/config.yml .config/doctl/config.yaml
    .config/rclone/rclone.conf .config/op/config .config/sops/age/keys.txt .config/openai/key
    .gemini/oauth_creds.json .local/share/opencode/auth.json .modal.toml .fly/config.yml
    .config/uv/credentials .local/share/uv/credentials/credentials.toml .netrc _netrc .pypirc
    .npmrc .yarnrc.yml .git-credentials .config/git/credentials .pgpass .my.cnf .mylogin.cnf
    .databrickscfg .dbt/profiles.yml .snowflake/connections.toml .snowsql/config .wandb/settings
    .docker/config.json .kube/config .minikube/client.key .helm/repo .terraform.d/credentials.json
    .vault-token .cargo/credentials.toml .gem/credentials .m2/settings.xml .m2/settings-security.xml
    .gradle/gradle.properties .continuum/anaconda-client/tokens/t.token .conda/aau_token
    .local/share/keyrings/login.keyring .local/share/kwalletd/k .local/share/python_keyring/k
    .local/share/jupyter/runtime/jpserver-1.json .local/share/jupyter/jupyter_cookie_secret
    .jupyter/jupyter_server_config.json .ipython/profile_default/history.sqlite
    .ipython/profile_default/security/k.json .bash_history .zsh_history .python_history
    .psql_history .mysql_history .sqlite_history .node_repl_history .Rhistory .lesshst .viminfo
    .julia/logs/repl_history.jl .mozilla/firefox/logins.json .thunderbird/p/key4.db
    .config/google-chrome/Default/Cookies .config/Code/User/globalStorage/state.vscdb
    .claude/.credentials.json .claude.json .codex/auth.json .config/github-copilot/hosts.json
    .config/zed/settings.json .cursor/mcp.json .kaggle/kaggle.json .cache/huggingface/token
    .cache/huggingface/stored_tokens .config/huggingface/token .netlify/config.json
    .vercel/auth.json
    .config/heroku/credentials .config/stripe/config.toml .config/ngrok/ngrok.yml .pulumi/creds.json
    .config/sentry/token .sentryclirc .config/pip/pip.conf .pip/pip.conf .condarc .Renviron
    .Rprofile .config/containers/auth.json .password-store/a.gpg .Xauthority .config/Bitwarden/data
    .envrc .env .bashrc .profile .zshrc .config/fish/config.fish .config/rstudio/k
    notes/passwords.txt
    Documents/taxes.csv letters.txt .config/some-tool-of-tomorrow/token .tool-of-tomorrow
    """)
NEEDED = names("""
    .local/bin/tool .local/lib/python3/site-packages/p.py .pyenv/versions/3/lib/a.py R/library/a
    .cache/pip/http/a .cache/uv/a .cache/matplotlib/fontlist.json .cache/huggingface/hub/model
    .npm/_cacache/a .cargo/registry/a .julia/packages/a .local/share/uv/python/a
    .local/share/jupyter/kernels/ir/kernel.json .fonts/a.ttf .config/fontconfig/fonts.conf
    .config/matplotlib/matplotlibrc miniconda3/lib/a nltk_data/a .config/git/ignore
    """)
ROLES = (AgentRole.ACTOR, AgentRole.TESTER, AgentRole.PLANNER)


@pytest.fixture
def home(cage: Cage) -> Path:
    for name in CREDENTIALS:
        path = cage.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{SECRET} {name}")
    for name in NEEDED:
        path = cage.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"needed {name}\n")
    return cage.home


async def read_as(cage: Cage, role: AgentRole, wanted: Collection[str]) -> str:
    """What an agent of this role sees of these files of the home, by several names for it."""
    code = f"""
import os
for name in {sorted(wanted)!r}:
    for top in ({str(cage.home)!r}, "/proc/self/root{cage.home}", os.path.expanduser("~")):
        try:
            print(open(os.path.join(top, name)).read())
        except OSError:
            pass
for folder, _, files in os.walk({str(cage.home)!r}):
    for name in files:
        try:
            print(open(os.path.join(folder, name)).read())
        except OSError:
            pass
print("looked")
"""
    if role is not AgentRole.PLANNER:
        return await cage.python(code, role=role)
    kernels = ScratchKernels(cage.sandbox)
    try:
        return await cage.in_scratch(kernels, code)
    finally:
        await kernels.close()


async def test_credentials_and_histories_cannot_be_read(cage: Cage, home: Path) -> None:
    for role in ROLES:
        said = await read_as(cage, role, CREDENTIALS)
        assert "looked" in said
        assert [name for name in CREDENTIALS if f"{SECRET} {name}" in said] == [], role


async def test_what_programs_need_can_be_read(cage: Cage, home: Path) -> None:
    for role in ROLES:
        said = await read_as(cage, role, NEEDED)
        assert [name for name in NEEDED if f"needed {name}" not in said] == [], role


async def test_what_is_put_there_later_cannot_be_read(cage: Cage, home: Path) -> None:
    for role in ROLES:
        await read_as(cage, role, [])
        later = [f".new-tool-{role}", f"new-{role}.csv"]
        for name in later:
            (home / name).write_text(f"{SECRET} later")
        assert SECRET not in await read_as(cage, role, later), role


async def test_what_the_user_adds_can_be_read(cage: Cage, home: Path) -> None:
    (home / "data").mkdir()
    (home / "data" / "a.csv").write_text("1,2\n")
    assert "1,2" not in await cage.run("cat ~/data/a.csv")
    cage.change(sandbox_read=("~/data", str(home / "nowhere")))
    for role in (AgentRole.ACTOR, AgentRole.TESTER):
        assert "1,2" in await cage.run("cat ~/data/a.csv", role=role)
        assert SECRET not in await read_as(cage, role, CREDENTIALS)


async def test_a_whole_home_cannot_be_added(cage: Cage, home: Path) -> None:
    cage.change(sandbox_read=("~", str(home.parent)))
    assert SECRET not in await read_as(cage, AgentRole.ACTOR, CREDENTIALS)


async def test_a_home_as_workspace_hides_all_with_a_dot(cage: Cage, home: Path) -> None:
    cage.change(workspace=cage.home)
    for role in (AgentRole.ACTOR, AgentRole.TESTER):
        said = await read_as(cage, role, CREDENTIALS)
        seen = [name for name in CREDENTIALS if f"{SECRET} {name}" in said]
        assert [name for name in seen if name.startswith(".")] == []
        assert "letters.txt" in seen  # it is the workspace, after all


async def test_a_secret_that_is_linked_to_from_the_home(cage: Cage, home: Path) -> None:
    vault = cage.base / "vault"
    vault.mkdir()
    (vault / "key").write_text(SECRET)
    (home / ".vault").symlink_to(vault)
    said = await cage.run(f"cat ~/.vault/key {vault}/key; cd {vault} && cat key")
    assert SECRET not in said


async def test_a_link_in_the_home_to_what_is_needed_still_leads_there(
    cage: Cage, home: Path
) -> None:
    away = cage.base / "conda"
    (away / "lib").mkdir(parents=True)
    (away / "lib" / "a").write_text("from afar")
    (home / "anaconda3").symlink_to(away)
    assert "from afar" in await cage.run("cat ~/anaconda3/lib/a")


async def test_git_has_the_users_settings_without_credentials(cage: Cage, home: Path) -> None:
    (home / ".gitconfig").write_text(
        '[user]\n\tname = Ada \\"Countess\\" Lovelace\n\temail = ada@example.org\n'
        "\tsigningkey = s3cr3t-key\n[init]\n\tdefaultBranch = trunk\n"
        "[credential]\n\thelper = store --file=s3cr3t-file\n"
        '[url "https://s3cr3t-token@example.org/"]\n\tinsteadOf = x:\n'
        "[http]\n\textraheader = Authorization: s3cr3t\n[core]\n\tquotepath\n"
        '[diff "ipynb"]\n\ttextconv = cat\n[alias]\n\tx = !echo s3cr3t\n'
    )
    for role in (AgentRole.ACTOR, AgentRole.TESTER):
        said = await cage.run("git config --global --list; cat ~/.gitconfig", role=role)
        assert 'user.name=Ada "Countess" Lovelace' in said
        assert "user.email=ada@example.org" in said
        assert "diff.ipynb.textconv=cat" in said
        assert "core.quotepath\n" in said
        assert "s3cr3t" not in said
        assert "unable to access" not in said
    said = await cage.run(
        "git init -q r && cd r && git symbolic-ref HEAD && git commit -qm a --allow-empty; git log"
    )
    assert "refs/heads/trunk" in said
    assert "Lovelace" in said
    (home / ".gitconfig").write_text("[user]\n\tname = Grace\n")
    assert "user.name=Grace\n" in await cage.run("git config --global --list")


async def test_a_program_that_is_installed_in_the_home_runs(cage: Cage, home: Path) -> None:
    """On the path, in an environment of its own, beside keys that are not."""
    tool = home / ".tool" / "bin" / "tool"
    tool.parent.mkdir(parents=True)
    tool.write_text("#!/bin/sh\necho it runs\n")
    tool.chmod(0o755)
    (home / ".tool" / "token").write_text(SECRET)
    path = f"{os.environ['PATH']}:{tool.parent}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", path)
        cage.change()
        said = await cage.run(f"tool; cat {home}/.tool/token; {python()} -c 'print(6 * 7)'")
    assert "it runs" in said
    assert "42" in said
    assert SECRET not in said


async def test_a_file_that_a_command_was_allowed_to_read_is_there(
    house: House,
) -> None:
    """The decision was about this file, so it can be read; but nothing with a dot."""
    home = house.base / "home"
    (home / "data").mkdir(parents=True, exist_ok=True)
    (home / "data" / "a.csv").write_text("1,2\n")
    (home / ".token").write_text(SECRET)
    house.confine(WAYS[0])
    house.says_yes()
    house.look()
    house.expected |= {"ws/a.csv", "ws/token"}
    await house.run("cp ~/data/a.csv a.csv; cat ~/.token > token")
    assert (house.root / "a.csv").read_text() == "1,2\n"
    assert (house.root / "token").read_text() == ""


async def test_nothing_at_home_is_changed(cage: Cage, home: Path) -> None:
    before = picture(home)
    await cage.run(
        "cd ~; for d in . .cache/pip .local/bin data; do touch $d/new; rm -rf $d/*; done"
    )
    assert picture(home) == before


async def test_views_of_single_files_are_not_kept_for_ever(cage: Cage, home: Path) -> None:
    for number in range(30):
        (home / f"{number}.csv").write_text(f"file {number}\n")
        context = ToolContext(
            Workspace(cage.root),
            AgentRole.ACTOR,
            clearance=replace(
                CallAuthorization(), readable=frozenset({str(home / f"{number}.csv")})
            ),
            sandbox=cage.sandbox,
        )
        raw = {"command": f"cat ~/{number}.csv ~/0.csv"}
        text = (await default_tools().call("execute_command", raw, context)).text
        assert f"file {number}\n" in text
        assert number == 0 or "file 0" not in text
    assert len(cage.sandbox._views) <= 16
