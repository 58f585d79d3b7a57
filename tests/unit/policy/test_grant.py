"""What a call that was decided about may write of that which runs later."""

from __future__ import annotations

import pytest

from cowork_jupyter.domain.roles import Permission
from cowork_jupyter.policy.call_parts import decompose
from cowork_jupyter.policy.grant import writable_places
from cowork_jupyter.policy.paths import AnchorDirs
from cowork_jupyter.workspace.sandbox.autorun import NOTHING_OPENED, Opened

GROUNDS = AnchorDirs("/work", "/home/ada")


def opened(text: str, *, approved: bool = True) -> Opened:
    permissions = {Permission.EXECUTE_COMMANDS}
    call = decompose("execute_command", permissions, {"command": text}, GROUNDS)
    return writable_places(call, GROUNDS, approved=approved)


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("python x.py", NOTHING_OPENED),
        ("cp -r x/. .", NOTHING_OPENED),
        ("cp -r x sub", NOTHING_OPENED),
        ("cat .envrc", NOTHING_OPENED),
        ("git commit -m x", NOTHING_OPENED),
        ("git add -u", NOTHING_OPENED),
        ("git push https://example.org/x", NOTHING_OPENED),
        ("echo x > .envrc", Opened(("/work/.envrc",))),
        ("python x.py --out=.vscode/tasks.json", Opened(("/work/.vscode/tasks.json",))),
        ("echo x > .of-tomorrow.json", Opened(("/work/.of-tomorrow.json",))),
        ("npx x --to .of-tomorrow", Opened(("/work/.of-tomorrow",))),
        ("rm -rf sub", Opened(("/work/sub",))),
        ("rm -rf .", NOTHING_OPENED),
        ("git init", Opened(git=True)),
        ("env git config a.b c", Opened(git=True)),
        ("git push -u origin main", Opened(git=True)),
        ("git clone https://example.org/x", Opened(("/work",), git=True)),
        ("git merge x", Opened(("/work",))),
        ("tar xf x.tar", Opened(("/work",))),
        ("pip install x", Opened(environments=True)),
        ("python -m pip install x", Opened(environments=True)),
    ],
)
def test_approving_opens_what_the_card_names(text: str, allowed: Opened) -> None:
    assert opened(text) == allowed


@pytest.mark.parametrize("text", ["echo x > .envrc", "git init", "tar xf x.tar", "rm -rf sub"])
def test_a_rule_opens_nothing_but_environments_to_installers(text: str) -> None:
    assert opened(text, approved=False) == NOTHING_OPENED
    assert opened("pip install x", approved=False) == Opened(environments=True)


def test_the_workspace_stands_for_all_but_our_own_settings_and_jupyters() -> None:
    everything = Opened(("/work",))
    assert everything.covers("/work/.vscode", "settings", "/work")
    assert everything.covers("/work/sub/.git/hooks", "git", "/work")
    assert not everything.covers("/work/.cowork", "own", "/work")
    assert Opened(("/work/.cowork/x",)).covers("/work/.cowork", "own", "/work")
    assert not Opened(("/work/.cowork/x",)).covers("/work/.cowork/y", "own", "/work")
