"""The cluster that other tests rely on does what it says, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.slurm import cluster

pytestmark = pytest.mark.real
ROOT = Path(__file__).parents[2]


def test_a_batch_job_runs_on_the_node_that_was_asked_for(slurm):
    job = slurm.sbatch("echo $SLURMD_NODENAME; ls -d $LOCAL $SCRATCH", "--nodelist=c1")
    assert slurm.wait(job) == "COMPLETED"
    assert slurm.output(job).splitlines() == ["c1", f"{slurm.root}/local/c1/{job}", f"{slurm.root}/scratch"]
    cluster.wait_for(lambda: not (slurm.root / "local" / "c1" / str(job)).exists(), 10, "the epilog")


def test_gpus_are_assigned_by_type_and_count(slurm):
    shown = slurm.run("srun", "--partition=gpu", "--gres=gpu:p100:2", "bash", "-c", "echo $SLURMD_NODENAME $CUDA_VISIBLE_DEVICES")
    node, devices = shown.split()
    assert node in ("gp1", "gp2") and devices == "0,1"
    shown = slurm.run("srun", "--partition=gpu", "--gres=gpu:k80:4", "bash", "-c", "echo $CUDA_VISIBLE_DEVICES")
    assert shown.split() == ["0,1,2,3"]


def test_two_nodes_reach_each_other_by_name(slurm):
    resolve = "for n in $(scontrol show hostnames $SLURM_JOB_NODELIST); do getent ahostsv4 $n | head -n 1; done"
    shown = slurm.run("srun", "--nodes=2", "--nodelist=c1,c2", "bash", "-c", resolve).splitlines()
    assert [line.split()[0] for line in shown] == ["127.0.0.1"] * 4


def test_a_job_that_takes_more_memory_than_it_asked_for_is_ended_for_it(slurm):
    if not slurm.kills_for_memory:
        pytest.skip("no cgroup v1 for memory here")
    script = f"{sys.executable} -c 'import time; b = bytearray(300 << 20); time.sleep(5)'"
    assert slurm.wait(slurm.sbatch(script, "--mem=100M")) == "OUT_OF_MEMORY"


def test_the_controller_can_be_away_and_come_back(slurm):
    job = slurm.sbatch("sleep 2")
    slurm.stop_controller()
    assert not slurm.answers()
    slurm.start_controller()
    assert slurm.wait(job) == "COMPLETED"


def test_a_node_can_fail_and_come_back(slurm):
    job = slurm.sbatch("sleep 60", "--nodelist=c3", "--no-requeue")
    cluster.wait_for(lambda: slurm.state(job) == "RUNNING", 20, "the job to run")
    with slurm.node_down("c3"):
        assert slurm.wait(job) == "NODE_FAIL"
    assert slurm.node_states()["c3"] == "idle"


def test_with_accounting_sacct_knows_steps(slurm_accounting):
    job = slurm_accounting.sbatch("srun true", "--job-name=counted")
    assert slurm_accounting.wait(job) == "COMPLETED"

    def steps() -> list[str]:
        return slurm_accounting.run("sacct", "-n", "-P", "-o", "jobid,jobname,state", "-j", str(job)).splitlines()

    wanted = [f"{job}|counted|COMPLETED", f"{job}.batch|batch|COMPLETED", f"{job}.0|true|COMPLETED"]
    cluster.wait_for(lambda: steps() == wanted, 20, "sacct to have all three lines")


def test_a_cluster_whose_owner_is_killed_leaves_no_process_no_file_and_no_host_name():
    if reason := cluster.missing():
        pytest.skip(reason)
    script = (
        "import time; from tests.slurm.cluster import *\n"
        "with running() as c: print(c.root, c.sbatch('setsid sleep 300 & sleep 300'), flush=True); time.sleep(60)"
    )
    owner = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert owner.stdout
    root, job = owner.stdout.readline().split()
    there = cluster.Cluster(Path(root))
    cluster.wait_for(lambda: there.state(int(job)) == "RUNNING", 20, "the job to run")
    cluster.wait_for(lambda: len(cluster.processes(Path(root))) >= 12, 10, "munged, slurmctld, 6 slurmd, a step and its sleeps")
    os.kill(owner.pid, signal.SIGKILL)
    owner.wait()
    cluster.wait_for(lambda: not Path(root).exists(), 30, "the cluster to be taken down")
    assert cluster.processes(Path(root)) == []
    assert root not in cluster.HOSTS.read_text()


def test_without_root_the_reason_is_said(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert cluster.missing() == "a Slurm of our own needs root"


def test_without_the_packages_the_reason_is_said(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(cluster, "SEARCH", "/nowhere")
    assert cluster.missing() == "no munged, slurmctld, slurmd here: tests/system-packages installs them"
