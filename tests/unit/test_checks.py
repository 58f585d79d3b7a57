"""Who gets a second chance, and what it costs; shown with small projects that really run."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests import reports
from tests.checks import TESTS, Check, check_all, quick

pytestmark = pytest.mark.process

FIRST_TIME = '''
from pathlib import Path

def first_time(name):
    """Whether this test was not run before in this project."""
    seen = Path(__file__).with_name(name)
    if seen.exists():
        return False
    seen.touch()
    return True
'''
FLAKY = (
    "from first import first_time\ndef test_{0}():\n    assert not first_time('{0}'), 'too slow'\n"
)
BROKEN = "def test_broken():\n    assert False, 'always'\n"
FINE = "def test_fine():\n    pass\n"


class Project:
    """A folder of tests, run as one check."""

    def __init__(self, root: Path, printed: pytest.CaptureFixture[str]) -> None:
        self.root = root / "project"
        self.kept = root / "flaky"
        self.printed = printed
        (self.root / "tests").mkdir(parents=True)
        (self.root / "pytest.ini").write_text(
            "[pytest]\naddopts = -p no:cacheprovider\nmarkers = slow\n"
        )
        (self.root / "first.py").write_text(FIRST_TIME)

    def check(self, source: str, *, reruns: bool = True, slow: bool = True) -> list[str]:
        """Run these tests; gives the lines of the totals."""
        (self.root / "tests" / "test_it.py").write_text(source)
        command = (sys.executable, "-m", "pytest", "-q")
        check = Check("it", command, "junit", str(self.root), targets=("tests",), reruns=reruns)
        failed = check_all([check] if slow else quick([check]), self.kept)
        self.output = self.printed.readouterr().out
        lines = self.output.splitlines()
        totals = lines[max(n for n, line in enumerate(lines) if line[1:].startswith(" it ")) :]
        assert totals[-1].endswith(f"{failed} failed")
        return totals

    def outputs(self) -> list[str]:
        return [path.read_text() for path in sorted(self.kept.glob("*/*.txt"))]


@pytest.fixture
def project(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Project:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # they take seconds to import
    return Project(tmp_path, capsys)


def test_a_test_that_passes_alone_counts_as_passed_and_is_named(project: Project) -> None:
    row, flaky, total = project.check(FLAKY.format("slow") + FINE)
    assert row.startswith("✓ it")
    assert flaky.startswith("flaky: tests/test_it.py::test_slow failed, then passed alone")
    assert total == "total: 2 passed, 0 failed"


def test_both_outputs_of_a_flaky_test_are_kept_where_the_totals_say(project: Project) -> None:
    flaky = project.check(FLAKY.format("slow") + "    print('in time')\n")[1]
    first, second = project.outputs()
    assert "too slow" in first
    assert "in time" in second
    folder = Path(flaky.split(" are in ")[1])
    assert folder.resolve() == (project.kept / "1-tests-test_it.py-test_slow").resolve()
    assert sorted(path.name for path in folder.iterdir()) == ["first.txt", "second.txt"]


@pytest.mark.slow
def test_the_outputs_of_an_earlier_run_are_gone(project: Project) -> None:
    project.check(FLAKY.format("slow"))
    project.check(FINE)
    assert project.outputs() == []


def test_a_test_that_fails_twice_has_failed(project: Project) -> None:
    row, total = project.check(BROKEN + FINE)
    assert row.startswith("✗ it")
    assert total == "total: 1 passed, 1 failed"
    assert project.output.count("AssertionError: always") >= 2
    assert project.outputs() == []


def test_a_flaky_test_does_not_hide_a_broken_one(project: Project) -> None:
    totals = project.check(FLAKY.format("slow") + BROKEN)
    assert totals[-1] == "total: 1 passed, 1 failed"
    assert "test_slow" in totals[1]


@pytest.mark.slow
def test_more_than_three_flaky_tests_fail_the_run(project: Project) -> None:
    three = "".join(FLAKY.format(name) for name in "abc")
    assert project.check(three)[-1] == "total: 3 passed, 0 failed"
    four = "".join(FLAKY.format(name) for name in "defg")
    totals = project.check(four)
    assert totals[1].startswith("✗ flakiness")
    assert [line.split()[1] for line in totals[2:-1]] == [
        f"tests/test_it.py::test_{name}" for name in "defg"
    ]
    assert totals[-1] == "total: 4 passed, 1 failed"


def test_without_a_second_chance_a_flaky_test_has_failed(project: Project) -> None:
    assert project.check(FLAKY.format("slow"), reruns=False)[-1] == "total: 0 passed, 1 failed"


def test_slow_tests_run_in_the_full_tier_alone(project: Project) -> None:
    source = FINE + "import pytest\n@pytest.mark.slow\ndef test_slow():\n    pass\n"
    assert project.check(source, slow=False)[-1] == "total: 1 passed, 0 failed"
    assert project.check(source)[-1] == "total: 2 passed, 0 failed"


def test_what_needs_an_environment_of_its_own_is_slow_as_a_whole() -> None:
    spared = {check.name for check in TESTS} - {check.name for check in quick(TESTS)}
    assert spared == {"packaging", "hub", "collaboration", "jupyter_ai"}


def test_every_unit_test_is_in_one_check_and_one_alone() -> None:
    marks = [check.marks for check in TESTS if check.targets == ("tests/unit",)]
    assert marks == [("process",), ("not process",)]


def test_unit_and_security_tests_get_no_second_chance() -> None:
    without = {check.name for check in TESTS if not check.reruns}
    assert without == {"unit", "processes", "parts", "effects", "security", "vitest"}


@pytest.mark.slow
def test_whatever_a_test_is_called_it_is_found_again(project: Project) -> None:
    source = """
import pytest
from first import first_time

class TestOuter:
    class TestInner:
        @pytest.mark.parametrize("word", ["a::b[c]", "é \\n", "../q.py"])
        def test_word(self, word):
            assert not first_time(f"word{ord(word[-1])}")
"""
    totals = project.check(source)
    assert totals[-1] == "total: 3 passed, 0 failed"
    assert "flaky: tests/test_it.py::TestOuter::TestInner::test_word[a::b[c]] " in totals[1]
    assert len(project.outputs()) == 6


def test_cells_that_failed_are_run_again_with_their_notebook(tmp_path: Path) -> None:
    report = tmp_path / "report"
    cells = "".join(
        f'<testcase classname="" name="Cell {n}" file="../tmp/notebooks/{page}">{bad}</testcase>'
        for page in ("roles.ipynb", "tools.ipynb")
        for n, bad in enumerate(["", "<failure/>", "<failure/>"])
    )
    report.write_text(f"<testsuites><testsuite>{cells}</testsuite></testsuites>")
    result = reports.read("junit", report, 1, tmp_path)
    assert (result.passed, result.failed) == (2, 4)
    assert result.targets == {"notebooks/roles.ipynb": 2, "notebooks/tools.ipynb": 2}


@pytest.mark.parametrize("where", ["before", "after"])
def test_what_fails_around_a_test_is_its_failure(project: Project, where: str) -> None:
    lines = ["assert not first_time('around')", "yield"]
    body = "".join(f"    {line}\n" for line in (lines if where == "before" else lines[::-1]))
    source = f"import pytest\nfrom first import first_time\n@pytest.fixture\ndef around():\n{body}"
    totals = project.check(source + "def test_it(around):\n    pass\n")
    assert totals[1].startswith("flaky: tests/test_it.py::test_it ")
    assert totals[-1] == "total: 1 passed, 0 failed"


def test_a_test_that_fails_and_cannot_clean_up_counts_once(project: Project) -> None:
    source = "import pytest\n@pytest.fixture\ndef bad():\n    yield\n    assert 0\n"
    totals = project.check(source + "def test_it(bad):\n    assert 0\n" + FINE)
    assert totals[-1] == "total: 1 passed, 1 failed"


@pytest.mark.parametrize(
    "source",
    [
        "import os\ndef test_crash():\n    os._exit(1)\n",
        FLAKY.format("slow") + "def test_stop():\n    raise KeyboardInterrupt\n",
        "from first import first_time\nassert not first_time('collected')\n" + FINE,
        "import pytest\ndef test_hidden():\n    pytest.skip('later')\n",
        "",
    ],
    ids=["no report", "interrupted", "not collected", "skipped", "no tests"],
)
def test_what_is_no_failed_test_of_a_whole_run_is_not_run_again(
    project: Project, source: str
) -> None:
    totals = project.check(source)
    assert re.fullmatch(r"total: \d passed, 1 failed", totals[-1])
    assert len(totals) == 2
    assert "once more" not in project.output


@pytest.mark.slow
def test_where_much_is_broken_only_some_is_run_again(project: Project) -> None:
    source = (
        "import pytest\n@pytest.mark.parametrize('n', range(12))\ndef test_n(n):\n    assert 0\n"
    )
    assert project.check(source)[-1] == "total: 0 passed, 12 failed"
    assert project.output.count("… it, once more") == 10
