"""The environment of a batch script, run by bash without a cluster: a line that fails is a record, and nothing is measured."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from steptime.core.schema import Budget, Case, Record, Status
from steptime.schedulers.batches import Batch, prepare
from steptime.schedulers.request import request_of
from steptime.schedulers.site_file import site_of
from steptime.schedulers.slurm.script import SlurmScript
from steptime.store.files import Store
from steptime.sweep import state

CASE = Case("mlp", "null", 8, budget=Budget(min_steps=2, max_steps=3))
OLD_MODULES = """
modulecmd() {
  case "$2 $3" in
    "load good") echo 'export LOADEDMODULES=good/1.0 GOOD=1;' ;;
    load*) echo "ModuleCmd_Load.c(213):ERROR:105: Unable to locate a modulefile for '$3'" >&2 ;;
  esac
}
module() { eval `modulecmd bash "$@"`; }
"""
"""Environment Modules 3: an error is printed, and the function returns 0 all the same"""
LMOD = """
module() {
  if [ "$2" = good ]; then export LOADEDMODULES=good/1.0; return 0; fi
  printf 'Lmod has detected the following error: These module(s) are unknown:\\n"%s"\\n' "$2" >&2
  return 1
}
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    """The record of a case, and what its script printed; `lines` and other keys are those of [backends.null]."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
    for name in ("LOADEDMODULES", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)

    def run_script(shell: str = "", **own: object) -> tuple[Record | None, str]:
        (tmp_path / "modules.sh").write_text(shell)
        keys = {"lines": [], "python": sys.executable, **own}
        text = "\n".join(f"{key} = {value!r}" for key, value in keys.items() if value != "")
        site = site_of(f"login_shell = false\n[backends.null]\n{text}\n", "test", "test.toml")
        store = Store(tmp_path / "store")
        store.prepare()
        sweep = state.begin(store, [CASE], site=site)
        folder = state.folder_of(store, sweep)
        prepare(folder, site, Batch(request_of(site, CASE), [CASE], array=False), "", SlurmScript())
        (script,) = folder.glob("*/script.sh")
        job = {"SLURM_JOB_ID": "7", "SLURM_JOB_NAME": "by-hand", "BASH_ENV": str(tmp_path / "modules.sh")}
        done = subprocess.run(["bash", script], capture_output=True, text=True, env={**os.environ, **job}, cwd=script.parent)
        records = store.read()[0]
        (attempt,) = folder.glob("*/try-7")
        assert (attempt / "exit").read_text().strip() == str(done.returncode)
        return (records[0] if records else None), done.stderr

    return run_script


@pytest.mark.parametrize(
    ("shell", "own", "line"),
    [
        ("", {"modules": ["cuda/11"]}, "exit code 127 at: module load cuda/11 ("),
        (OLD_MODULES, {"modules": ["good", "nonexistent"]}, "1 at: module load nonexistent (ModuleCmd_Load.c(213):ERROR:105"),
        (LMOD, {"modules": ["good", "nonexistent"]}, "exit code 1 at: module load nonexistent (Lmod has detected"),
        (OLD_MODULES, {"lines": ["module load good && module load nonexistent"]}, "at: module load nonexistent (Mod"),
        ("", {"lines": ["source /nowhere/activate && export A=1"]}, "exit code 1 at: source /nowhere/activate"),
        (OLD_MODULES, {"lines": ["if true; then", "  module load nonexistent", "fi"]}, "1 at: module load nonexistent (Mod"),
        ("", {"lines": ["source /nowhere/activate"]}, "exit code 1 at: source /nowhere/activate"),
        ("", {"lines": ["export A=1", "false"]}, "exit code 1 at: false"),
        ("", {"conda": "nowhere"}, "exit code 127 at: else eval \"$(conda shell.bash hook)\" && conda activate nowhere; fi"),
        ("", {"python": "/nowhere/bin/python"}, "exit code 1 at: python=/nowhere/bin/python; type"),
    ],
)  # fmt: skip
def test_a_line_that_fails_is_the_record_and_nothing_is_measured(run, shell, own, line):
    record, log = run(shell, **own)
    assert record
    assert (record.status, record.summary, record.allocation.job) == (Status.LAUNCH_FAILED, None, "7")
    assert line in record.message and record.message.startswith("the environment failed with ")
    assert record.message[:200] in " ".join(log.split())


def test_without_an_interpreter_the_reason_is_left_for_whoever_waits(run, tmp_path, monkeypatch):
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("bash", "sed", "tee", "mkdir", "cp", "mv", "cat", "grep", "head", "paste", "timeout"):
        (tools / name).symlink_to(f"/usr/bin/{name}")
    monkeypatch.setenv("PATH", str(tools))
    assert run(lines=["false"])[0] is None
    (reason,) = tmp_path.glob("store/sweeps/*/*/try-7/launch_failed")
    assert reason.read_text().strip() == "the environment failed with exit code 1 at: false"


@pytest.mark.parametrize("shell", [OLD_MODULES, LMOD])
def test_what_works_is_measured_and_the_record_has_interpreter_and_modules(run, shell):
    record, log = run(shell, modules=["good"])
    assert record and record.status == "ok", log
    assert (record.software.interpreter, record.software.modules) == (sys.executable, ["good/1.0"])


def test_a_conda_environment_without_an_interpreter_fails(run, tmp_path):
    conda = 'conda() { [ "$1" = shell.bash ] || export CONDA_PREFIX=' + str(tmp_path) + "; }"
    record, _ = run(conda, conda="empty", python="")
    assert record and record.status == Status.LAUNCH_FAILED
    assert record.message.endswith('at: [ -x "$CONDA_PREFIX/bin/python" ] # conda environment empty')


@pytest.mark.parametrize(
    "lines",
    [
        ["false || true"],
        ["[ -d /nowhere ] && export A=1 || :"],
        ["if [ -d /nowhere ]; then", "  export A=1", "fi"],
        ["module load nonexistent || true", "export A='; module load x'"],
        ["source {inner}"],
    ],
)
def test_what_may_fail_does_not_end_the_job(run, tmp_path, lines):
    inner = tmp_path / "inner.sh"
    inner.write_text("false\ntrue\n")
    record, log = run(OLD_MODULES, lines=[line.replace("{inner}", str(inner)) for line in lines])
    assert record and record.status == "ok", log
