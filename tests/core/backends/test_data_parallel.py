"""Ranks of PyTorch train as one process with their effective batch does."""

import json
import os
import subprocess

import numpy as np
import pytest

from steptime.core.schema import Budget, Case, Job, to_json
from steptime.launch.job_folder import put_worker
from tests.core.data.idx import write_set

pytestmark = pytest.mark.real


def job_folder(tmp_path, name, case, **job):
    folder = tmp_path / name
    folder.mkdir()
    (folder / "job.json").write_text(to_json(Job(name, case, environment={"OMP_NUM_THREADS": "1"}, **job)))
    return folder, put_worker(folder, tmp_path)


def trained(python, tmp_path, name, **case):
    """All weights after three steps in double precision."""
    asked = Case("mnist_cnn", "pytorch", precision="fp64", optimizer="momentum", **case)
    folder, worker = job_folder(tmp_path, name, asked, kind="parity", parity_steps=3)
    done = subprocess.run([python, worker, folder], capture_output=True, text=True, timeout=300)
    assert (folder / "parity.npz").exists(), (folder / "record.json").read_text() + done.stderr[-1000:]
    with np.load(folder / "parity.npz") as arrays:
        return {key: arrays[key] for key in arrays if key.startswith("weights/")}


@pytest.mark.parametrize("data", ["synthetic", "real"])
def test_two_ranks_train_as_one_process_with_twice_the_batch(torch_python, tmp_path, data):
    if data == "real":
        write_set(tmp_path / "set")
        data = str(tmp_path / "set")
    one = trained(torch_python, tmp_path, "one", batch=8, data=data)
    two = trained(torch_python, tmp_path, "two", batch=4, devices=2, data=data)
    for key, array in one.items():
        assert np.abs(two[key] - array).max() <= 1e-9 * np.abs(array).max(), key


def test_a_measured_case_of_two_ranks_is_one_record_and_its_ranks_end_with_equal_parameters(torch_python, tmp_path):
    case = Case("mnist_cnn", "pytorch", 4, devices=2, budget=Budget(max_steps=8))
    folder, worker = job_folder(tmp_path, "measured", case)
    subprocess.run([torch_python, worker, folder], capture_output=True, text=True, timeout=300, env=dict(os.environ))
    record = json.loads((folder / "record.json").read_text())
    assert (record["status"], record["message"]) == ("ok", "")
    assert record["summary"]["effective_batch"] == 8 and record["software"]["settings"]["ranks"] == "2 by gloo"


def test_a_rank_that_is_killed_within_a_collective_ends_the_case(torch_python, tmp_path):
    case = Case("mnist_cnn", "pytorch", 4, devices=2, budget=Budget(max_steps=100_000, max_seconds=600, target=1e-9))
    folder, worker = job_folder(tmp_path, "killed", case)
    leader = subprocess.Popen([torch_python, worker, folder], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        second = _rank_1(leader.pid)
        os.kill(second, 9)
        leader.wait(60)
    finally:
        leader.kill()
    record = json.loads((folder / "record.json").read_text())
    assert (record["status"], record["message"]) == ("crash", "rank 1 killed by SIGKILL")


def _rank_1(leader: int) -> int:
    """The second child, once it has been computing for a while."""
    import time
    from pathlib import Path

    until = time.monotonic() + 120
    while time.monotonic() < until:
        for child in Path(f"/proc/{leader}/task/{leader}/children").read_text().split():
            if b"RANK=1\0" in Path(f"/proc/{child}/environ").read_bytes() and _cpu_seconds(child) > 4:
                return int(child)
        time.sleep(0.2)
    raise AssertionError("rank 1 did not come")


def _cpu_seconds(pid: str) -> float:
    from pathlib import Path

    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
