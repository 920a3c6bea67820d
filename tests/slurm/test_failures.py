"""Whatever becomes of a job on a real Slurm is a record of the right kind, and the plan goes on."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.slurm.cluster import Cluster, wait_for
from tests.slurm.user import SLEEPY, User, statuses

pytestmark = pytest.mark.real

TYPES = """
[devices.greedy]
device = "cpu"
gres = ""
memory = "100G"
[devices.endless]
device = "cpu"
gres = ""
time = "9-00:00:00"
[devices.small]
device = "cpu"
gres = ""
memory = "100M"
[backends.reference]
python = "{eater}"
"""
PLAN = """
[constants]
model = "mlp"
phase = "training"
budget = { target = 1e-9, max_seconds = 1000.0, limit_seconds = 1000.0 }

[[cases]]
backend = "fake"
backend_options = { sleep = true, step_ms = 50.0 }
batch = [1, 2, 3, 4, 5, 6]

[[cases]]
backend = "reference"
device = "small"
batch = 7

[[override]]
when = "batch == 1"
set = { budget.max_steps = 10 }
[[override]]
when = "batch == 2"
set = { budget.max_steps = 240, device = "k80" }
[[override]]
when = "batch == 5"
set = { device = "greedy" }
[[override]]
when = "batch == 6"
set = { device = "endless" }
"""
FINE, NODE_DOWN, TIMED_OUT, CANCELLED, GREEDY, ENDLESS, EATER = range(1, 8)


def eater(folder: Path) -> Path:
    """An interpreter that takes more memory than it may have."""
    path = folder / "eater"
    path.write_text(f"#!/bin/bash\n{sys.executable} -c 'import time; b = bytearray(300 << 20); time.sleep(20)'\nexit 1\n")
    path.chmod(0o755)
    return path


def jobs_by_batch(user: User) -> dict[int, list[str]]:
    """The running jobs of each case."""
    found: dict[int, list[str]] = defaultdict(list)
    for job, state, folder in user.jobs():
        if state == "RUNNING":
            found[json.loads((Path(folder) / "job.json").read_text())["case"]["batch"]].append(job)
    return found


def test_each_misfortune_has_its_kind_and_the_plan_goes_on(slurm, slurm_accounting, tmp_path):
    """Without accounting and with it, both at once: a time limit takes Slurm half a minute to notice."""
    clusters = (slurm, slurm_accounting)
    for each in clusters:
        (tmp_path / each.root.name).mkdir()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda each: misfortunes(each, tmp_path / each.root.name), clusters))


def misfortunes(cluster: Cluster, tmp_path: Path) -> None:
    user = User(cluster, tmp_path / "user", "retries = 1", TYPES.format(eater=eater(tmp_path)))
    (user.folder / "plan.toml").write_text(PLAN)
    running = user.start("run", "plan.toml", "--on", "test", "--contended-rounds", "0")
    wait_for(lambda: {NODE_DOWN, TIMED_OUT, CANCELLED} <= set(jobs_by_batch(user)), 40, "the cases to run")
    jobs = jobs_by_batch(user)
    cluster.run("scontrol", "update", f"jobid={jobs[TIMED_OUT][0]}", "EndTime=now+1")
    cluster.run("scancel", jobs[CANCELLED][0])
    with cluster.node_down("gk1"):
        assert cluster.wait(int(jobs[NODE_DOWN][0])) == "NODE_FAIL"
    try:
        out, errors = running.communicate(timeout=300)
    finally:
        running.kill()
    assert running.returncode == 1, errors
    found = defaultdict(list)
    for record in sorted(user.records, key=lambda record: record.id):
        found[record.case.batch].append(record)
    assert statuses(found[FINE]) == ["ok"]
    assert statuses(found[NODE_DOWN]) == ["node_failure", "ok"]
    assert statuses(found[CANCELLED]) == ["cancelled"]
    assert statuses(found[GREEDY]) == ["launch_failed"]
    assert "Memory specification can not be satisfied" in found[GREEDY][0].message, "Slurm's own words"
    assert statuses(found[ENDLESS]) == ["launch_failed"]
    assert "PartitionTimeLimit" in found[ENDLESS][0].message
    assert statuses(found[TIMED_OUT]) == ["timeout"]
    if cluster.kills_for_memory:
        assert statuses(found[EATER]) == ["out_of_memory"]
        assert "memory limit" in found[EATER][0].message
    assert "submitting it again: a node of job" in errors
    assert "timeout: job" in out and "launch_failed: " in out


@pytest.mark.parametrize("kind", ["slurm", "slurm_accounting"])
def test_running_out_of_memory_inside_a_step_is_seen(kind, request, tmp_path):
    """Slurm calls such a job FAILED, or even COMPLETED."""
    cluster = request.getfixturevalue(kind)
    if not cluster.kills_for_memory:
        pytest.skip("no cgroup v1 for memory here")
    user = User(cluster, tmp_path / "user", "launch_single = true", TYPES.format(eater=eater(tmp_path)))
    done = user.steptime("run", "mlp", "-B", "reference", "--phase", "training", "--device", "small", "--on", "test")
    assert done.code == 1
    (record,) = user.records
    assert (record.status, record.allocation.job in record.message) == ("out_of_memory", True), record.message
    assert "srun" in next(user.sweep_folder().glob("mlp-*/script.sh")).read_text()


def test_a_controller_of_slurm_that_is_away_for_a_while_loses_nothing(slurm, tmp_path):
    user = User(slurm, tmp_path / "user")
    running = user.start("run", *SLEEPY, "--on", "test", "-n", "1,2", "--max-steps", "200")
    user.wait_for_state("RUNNING", 2)
    slurm.stop_controller()
    status = user.steptime("status", "--json", timeout=60).json[0]
    assert status["jobs"] == {"unknown": 2} and status["notes"], "what is unknown is said to be unknown"
    wait_for(lambda: len(user.records) == 2, 30, "the jobs to end and to deliver")
    slurm.start_controller()
    _, errors = running.communicate(timeout=120)
    assert running.returncode == 0, errors
    assert statuses(user.records) == ["ok", "ok"] and len(user.jobs()) == 2


def test_a_submission_while_slurm_is_away_is_made_when_it_is_back(slurm, tmp_path):
    user = User(slurm, tmp_path / "user")
    slurm.stop_controller()
    running = user.start("run", "mlp", "-B", "fake", "--phase", "training", "--on", "test")
    assert any("Unable to contact slurm controller" in line for line in running.stderr), "it says so and goes on"
    slurm.start_controller()
    _, errors = running.communicate(timeout=120)
    assert running.returncode == 0, errors
    assert statuses(user.records) == ["ok"] and len(user.jobs()) == 1
