"""What a call that was decided about may write of that which runs later."""

from __future__ import annotations

import pytest

from cowork_jupyter.domain.roles import Permission
from cowork_jupyter.policy.calls import decompose
from cowork_jupyter.policy.decision import writable_places
from cowork_jupyter.policy.paths import AnchorDirs
from cowork_jupyter.workspace.sandbox.autorun import NOTHING_WRITABLE, WritableAutorun

GROUNDS = AnchorDirs("/work", "/home/ada")


def opened(text: str, *, approved: bool = True) -> WritableAutorun:
    permissions = {Permission.EXECUTE_COMMANDS}
    call = decompose("execute_command", permissions, {"command": text}, GROUNDS)
    return writable_places(call, GROUNDS, approved=approved)


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("python x.py", NOTHING_WRITABLE),
        ("cp -r x/. .", NOTHING_WRITABLE),
        ("cp -r x sub", NOTHING_WRITABLE),
        ("cat .envrc", NOTHING_WRITABLE),
        ("git commit -m x", NOTHING_WRITABLE),
        ("git add -u", NOTHING_WRITABLE),
        ("git push https://example.org/x", NOTHING_WRITABLE),
        ("echo x > .envrc", WritableAutorun(("/work/.envrc",))),
        ("python x.py --out=.vscode/tasks.json", WritableAutorun(("/work/.vscode/tasks.json",))),
        ("echo x > .of-tomorrow.json", WritableAutorun(("/work/.of-tomorrow.json",))),
        ("npx x --to .of-tomorrow", WritableAutorun(("/work/.of-tomorrow",))),
        ("rm -rf sub", WritableAutorun(("/work/sub",))),
        ("rm -rf .", NOTHING_WRITABLE),
        ("git init", WritableAutorun(git=True)),
        ("env git config a.b c", WritableAutorun(git=True)),
        ("git push -u origin main", WritableAutorun(git=True)),
        ("git clone https://example.org/x", WritableAutorun(("/work",), git=True)),
        ("git merge x", WritableAutorun(("/work",))),
        ("tar xf x.tar", WritableAutorun(("/work",))),
        ("pip install x", WritableAutorun(environments=True)),
        ("python -m pip install x", WritableAutorun(environments=True)),
    ],
)
def test_approving_opens_what_the_card_names(text: str, allowed: WritableAutorun) -> None:
    assert opened(text) == allowed


@pytest.mark.parametrize("text", ["echo x > .envrc", "git init", "tar xf x.tar", "rm -rf sub"])
def test_a_rule_opens_nothing_but_environments_to_installers(text: str) -> None:
    assert opened(text, approved=False) == NOTHING_WRITABLE
    assert opened("pip install x", approved=False) == WritableAutorun(environments=True)


def test_opened_workspace_excludes_own_settings() -> None:
    everything = WritableAutorun(("/work",))
    assert everything.covers("/work/.vscode", "settings", "/work")
    assert everything.covers("/work/sub/.git/hooks", "git", "/work")
    assert not everything.covers("/work/.cowork", "own", "/work")
    assert WritableAutorun(("/work/.cowork/x",)).covers("/work/.cowork", "own", "/work")
    assert not WritableAutorun(("/work/.cowork/x",)).covers("/work/.cowork/y", "own", "/work")
