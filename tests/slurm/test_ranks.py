"""Ranks that srun starts on two nodes are one case."""

import json

import pytest

from steptime.core.schema import Budget, Case, Job, to_json
from steptime.launch.job_folder import put_worker
from tests.core.data.idx import write_set
from tests.slurm.user import FAKE, User

pytestmark = pytest.mark.real

SCRIPT = """
export MASTER_ADDR=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1) MASTER_PORT=$((20000 + SLURM_JOB_ID % 10000))
srun --ntasks=2 --ntasks-per-node=1 --kill-on-bad-exit=1 {python} {worker} {folder}
"""


def record_of(slurm, tmp_path, python, backend, **options):
    folder = tmp_path / "job"
    folder.mkdir()
    case = Case("mnist_cnn", backend, 4, nodes=2, backend_options=options, budget=Budget(max_steps=8, limit_seconds=60))
    (folder / "job.json").write_text(to_json(Job("two-nodes", case, environment={"OMP_NUM_THREADS": "1"})))
    script = SCRIPT.format(python=python, worker=put_worker(folder, tmp_path), folder=folder)
    job = slurm.sbatch(script, "--nodes=2", "--ntasks-per-node=1", "--mem=1500M")
    state = slurm.wait(job, 120)
    return state, json.loads((folder / "record.json").read_text()) if (folder / "record.json").exists() else slurm.output(job)


def test_pytorch_trains_on_two_nodes(slurm, tmp_path, torch_python):
    state, record = record_of(slurm, tmp_path, torch_python, "pytorch")
    assert (state, record["status"], record["summary"]["effective_batch"]) == ("COMPLETED", "ok", 8), record
    assert record["software"]["settings"]["ranks"] == "2 by gloo"


def test_a_failure_on_the_second_node_is_the_record_of_the_case(slurm, tmp_path):
    import sys

    state, record = record_of(slurm, tmp_path, sys.executable, "fake", failure="oom", fail_rank=1, fail_at=3)
    assert (state, record["status"]) == ("COMPLETED", "out_of_memory"), record
    assert record["message"] == "rank 1: the fake backend was told to run out of memory"


def test_a_plan_over_gpu_types_counts_and_staging_directories_is_fed_from_where_it_asked_for(slurm, tmp_path, home):
    write_set(home / "data" / "mnist", count=64)
    user = User(slurm, tmp_path / "user", memory="800M")
    plan = ("run", "psc-deep-mnist", "-B", "fake", "--device", "k80,p100", "--batch", "4", "--max-steps", "10", "--json")
    user.steptime(
        *plan,
        "--exclude",
        "device == 'p100' and devices == 4",
        "--data",
        "mnist",
        "--data-store",
        "scratch,local",
        "--on",
        "test",
        timeout=200,
    )
    records = user.records
    assert {(r.case.device, r.case.devices, r.case.data_store) for r in records} == {
        (device, count, store)
        for device, most in (("k80", 4), ("p100", 2))
        for count in (1, 2, 4)
        for store in ("scratch", "local")
        if count <= most
    }
    for record in records:
        assert (record.status, record.message) == ("ok", "")
        assert record.summary and record.summary.effective_batch == 4 * record.case.devices
        assert record.allocation and record.allocation.visible_devices.count(",") == record.case.devices - 1
        where = slurm.scratch if record.case.data_store == "scratch" else slurm.root / "local"
        assert record.staging and record.staging.folder.startswith(str(where))
    assert not list(slurm.scratch.glob("steptime-data-*"))


def test_a_case_on_two_nodes_is_submitted_and_measured_as_any_other(slurm, tmp_path, torch_python):
    python = f'[backends.pytorch]\npython = "{torch_python}"'
    user = User(slurm, tmp_path / "user", "retries = 0", python, memory="1500M")
    options = ["--phase", "training", "--batch", "4", "--threads", "1", "--max-steps", "8", "--min-steps", "5"]
    done = user.steptime("run", "mnist_cnn", "--nodes", "2", *options, "--contended-rounds", "0", "--on", "test", timeout=200)
    (record,) = user.records
    assert (record.status, record.message) == ("ok", ""), done.err
    assert len(set(record.allocation.nodes)) == 2
    assert record.summary.effective_batch == 8
    assert record.software.settings["ranks"] == "2 by gloo"


def test_ranks_that_use_up_the_memory_of_their_job_are_out_of_memory(slurm, tmp_path):
    if not slurm.kills_for_memory:
        pytest.skip("no memory cgroup to limit a job")
    user = User(slurm, tmp_path / "user", "retries = 0", memory="60M")
    user.steptime("run", *FAKE, "--device", "k80", "--devices", "4", "--max-steps", "10", "--on", "test", timeout=200)
    (record,) = user.records
    assert (record.status, "memory" in record.message) == ("out_of_memory", True), record.message
