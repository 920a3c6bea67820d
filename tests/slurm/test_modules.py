"""A site's environment on a real Slurm, with a real module system: what it loads is recorded, and what fails ends the job."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.slurm.user import FAKE, User

pytestmark = pytest.mark.real

GOOD = "#%Module1.0\nprepend-path PATH /opt/good/bin\n"
BROKEN = "#%Module1.0\nmodule load missing\nsetenv BROKEN 1\n"


@pytest.fixture
def site(slurm, tmp_path):
    """A user whose site loads these modules before the backend `fake`."""
    if subprocess.run(["bash", "-lc", "type module"], capture_output=True).returncode:
        pytest.skip("no module system: apt-get install environment-modules, or lmod")
    for name, text in (("good/1.0", GOOD), ("broken/2.0", BROKEN)):
        path = tmp_path / "modulefiles" / name
        path.parent.mkdir(parents=True)
        path.write_text(text)

    def made(backend: str) -> User:
        environment = f'[environment]\nMODULEPATH = "{tmp_path}/modulefiles"\n'
        tables = f'{environment}[backends.fake]\n{backend}\npython = "{sys.executable}"\n'
        return User(slurm, tmp_path / "user", more="login_shell = true", tables=tables)

    return made


def test_modules_and_interpreter_are_in_the_record_and_in_the_check(site):
    user = site('modules = ["good"]\nlines = ["module load good/1.0"]')
    done = user.steptime("run", *FAKE, "--on", "test")
    assert done.code == 0, done.err
    (record,) = user.records
    assert (record.software.modules, record.software.interpreter) == (["good/1.0"], sys.executable)
    assert re.search(r"^ +modules +good/1.0$", user.steptime("show").out, re.M)
    seen = [row["seen"] for row in user.steptime("sites", "check", "test", "--json").json if row["what"].startswith("fake on ")]
    assert seen and all(f"by {sys.executable}, modules good/1.0" in words for words in seen)


@pytest.mark.parametrize(
    ("backend", "line"),
    [
        ('modules = ["good", "nonexistent/3"]', "module load nonexistent/3 ("),
        ('modules = ["broken"]', "module load broken ("),
        ('lines = ["module load good && module load nonexistent/3"]', "at: module load nonexistent/3 ("),
        ('lines = ["source /nowhere/bin/activate"]', "source /nowhere/bin/activate"),
        ('conda = "nowhere"', "conda activate nowhere"),
    ],
)
def test_a_line_that_fails_ends_the_job_and_nothing_is_measured(site, backend, line):
    user = site(backend)
    done = user.steptime("run", *FAKE, "--on", "test")
    assert done.code == 1, done.err
    (record,) = user.records
    assert (record.status, record.summary) == ("launch_failed", None)
    assert record.message.startswith("the environment failed with exit code ") and line in record.message
    assert record.allocation.job and record.allocation.nodes
    assert "launch_failed" in done.out
