"""The pre-commit hook that `make setup` installs: ruff refuses what is staged before it is committed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LONG = f'WORDS = "{"word " * 28}"\n'
GOOD = 'WORDS = "word"\n'
pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="no git")


class Checkout:
    def __init__(self, root: Path) -> None:
        self.root = root
        shutil.copytree(ROOT / ".githooks", root / ".githooks")
        shutil.copy(ROOT / "pyproject.toml", root)
        (root / ".venv").symlink_to(Path(sys.executable).parents[1])
        (root / ".gitignore").write_text(".venv\n")
        (root / "src").mkdir()

    def run(self, *command: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        nobody = {f"GIT_{who}_{what}": "nobody@example" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        environment = {**own, **nobody, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        return subprocess.run(command, cwd=cwd or self.root, env=environment, capture_output=True, text=True, timeout=120)

    def install(self, cwd: Path | None = None) -> Path:
        done = self.run(".githooks/install", cwd=cwd)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        return self.root / ".git/hooks/pre-commit"

    def commit(self, content: str) -> subprocess.CompletedProcess[str]:
        (self.root / "src/words.py").write_text(content)
        self.run("git", "add", "src/words.py")
        return self.run("git", "commit", "-m", "words")


@pytest.fixture
def folder(tmp_path) -> Checkout:
    return Checkout(tmp_path)


@pytest.fixture
def checkout(folder) -> Checkout:
    folder.run("git", "init", "--quiet")
    folder.run("git", "add", ".githooks", "pyproject.toml", ".gitignore")
    assert folder.run("git", "commit", "-m", "first").returncode == 0
    return folder


def test_a_line_that_is_too_long_is_refused_and_a_good_one_committed(checkout):
    checkout.install()
    refused = checkout.commit(LONG)
    assert refused.returncode != 0
    assert "E501" in refused.stderr and "--no-verify" in refused.stderr
    assert checkout.commit(GOOD).returncode == 0


def test_what_is_not_formatted_is_refused(checkout):
    checkout.install()
    refused = checkout.commit("WORDS = 'word'\n")
    assert refused.returncode != 0
    assert "+WORDS" in refused.stderr


def test_what_is_staged_counts_and_not_the_working_tree(checkout):
    checkout.install()
    for staged, later, accepted in ((LONG, GOOD, False), (GOOD, LONG, True)):
        (checkout.root / "src/words.py").write_text(staged)
        checkout.run("git", "add", "src/words.py")
        (checkout.root / "src/words.py").write_text(later)
        assert (checkout.run("git", "commit", "-m", "words").returncode == 0) == accepted


def test_a_commit_without_python_needs_no_ruff(checkout):
    checkout.install()
    assert checkout.run("git", "commit", "--allow-empty", "-m", "nothing").returncode == 0


def test_it_works_in_a_worktree(checkout):
    worktree = checkout.root / "worktree"
    checkout.run("git", "worktree", "add", str(worktree))
    (worktree / ".venv").symlink_to(checkout.root / ".venv")
    assert checkout.install(cwd=worktree).exists()
    (worktree / "src").mkdir()
    (worktree / "src/words.py").write_text(LONG)
    checkout.run("git", "add", "src/words.py", cwd=worktree)
    assert checkout.run("git", "commit", "-m", "words", cwd=worktree).returncode != 0


def test_a_second_setup_changes_nothing_and_a_hook_of_the_user_stays(checkout):
    hook = checkout.install()
    text = hook.read_text()
    checkout.install()
    assert hook.read_text() == text
    hook.write_text("#!/bin/sh\nexit 0\n")
    checkout.install()
    assert hook.read_text() == "#!/bin/sh\nexit 0\n"


def test_a_folder_of_hooks_that_the_user_chose_is_left_alone(checkout):
    checkout.run("git", "config", "core.hooksPath", "elsewhere")
    assert not checkout.install().exists()
    assert not (checkout.root / "elsewhere").exists()


def test_outside_a_checkout_nothing_happens(folder):
    assert not folder.install().exists()


def test_an_older_commit_that_has_no_hook_of_its_own_can_be_committed_to(checkout):
    checkout.install()
    shutil.rmtree(checkout.root / ".githooks")
    assert checkout.commit(LONG).returncode == 0
