"""The worker as one file, run as a person on a cluster would: python steptime-worker.pyz JOB_DIR."""

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import msgspec
import pytest

from steptime.core.schema import Case, Job, Record, to_json
from steptime.launch.job_folder import put_worker, worker_bytes


def job_folder(tmp_path, case, **job):
    (tmp_path / "job").mkdir(exist_ok=True)
    (tmp_path / "job" / "job.json").write_text(to_json(Job("by-hand", case, **job)))
    return put_worker(tmp_path / "job", tmp_path)


def run(python, worker):
    return subprocess.run([python, worker, worker.parent], capture_output=True, text=True, cwd="/", timeout=120)


def old_python():
    """A Python 3.9 with numpy, where the machine has one: the oldest interpreter that the inner half promises to run in."""
    for candidate in [shutil.which("python3.9"), *Path.home().glob(".pyenv/versions/3.9*/bin/python3.9")]:
        if candidate and subprocess.run([candidate, "-c", "import venv"], capture_output=True).returncode == 0:
            return Path(candidate)
    return None


def test_it_leaves_a_whole_record_without_anybody_watching(tmp_path):
    worker = job_folder(tmp_path, Case("mnist_cnn", "fake", 10))
    done = run(sys.executable, worker)
    assert done.returncode == 0, done.stderr
    record = msgspec.json.decode((worker.parent / "record.json").read_bytes(), type=Record)
    assert (record.status, record.id) == ("ok", "by-hand")
    assert record.machine.host


def test_it_runs_again_by_hand(tmp_path):
    worker = job_folder(tmp_path, Case("mnist_cnn", "fake", 10))
    assert run(sys.executable, worker).returncode == run(sys.executable, worker).returncode == 0


def test_bad_arguments_get_a_usage_line(tmp_path):
    done = subprocess.run(
        [sys.executable, job_folder(tmp_path, Case("mlp", "null", 1)), tmp_path], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stderr.startswith("usage:") and len(done.stderr.splitlines()) == 1


@pytest.mark.slow
def test_an_impossible_case_is_a_record_not_a_traceback(tmp_path):
    for case, words in [
        (Case("nonsense", "fake", 1), "unknown model"),
        (Case("mlp", "nonsense", 1), "unknown backend"),
        (Case("mlp", "reference", 1, precision="int8"), "no precision int8; it has fp32, fp64"),
        (Case("mlp", "reference", 1, device="cuda"), "no device cuda"),
        (Case("mlp", "reference", 1, devices=2), "one device"),
    ]:
        worker = job_folder(tmp_path, case)
        assert run(sys.executable, worker).returncode == 0
        record = json.loads((worker.parent / "record.json").read_text())
        assert record["status"] == "unsupported"
        assert words in record["message"]


@pytest.mark.parametrize("batch", [10**8, 2**31 - 1])
def test_a_batch_beyond_all_memory_is_out_of_memory(tmp_path, batch):
    worker = job_folder(tmp_path, Case("resnet50", "reference", batch))
    assert run(sys.executable, worker).returncode == 0
    record = json.loads((worker.parent / "record.json").read_text())
    assert record["status"] == "out_of_memory"
    assert "GB" in record["message"]


def test_allocation_beyond_what_is_free_fails_cleanly(tmp_path):
    worker = job_folder(tmp_path, Case("mlp", "fake", 1, backend_options={"failure": "eat", "fail_at": 2}))
    assert run(sys.executable, worker).returncode == 0
    record = json.loads((worker.parent / "record.json").read_text())
    assert record["status"] == "out_of_memory"


def test_the_same_sources_give_the_same_bytes():
    assert worker_bytes() == worker_bytes.__wrapped__()


def test_it_holds_the_inner_half_and_nothing_else(tmp_path):
    (tmp_path / "w.pyz").write_bytes(worker_bytes())
    parts = {name.split("/")[1].removesuffix(".py") for name in zipfile.ZipFile(tmp_path / "w.pyz").namelist() if "/" in name}
    assert not parts & {"cli", "store", "launch", "plan", "probe", "sweep", "environments"}


@pytest.mark.real
def test_it_runs_in_python_3_9_with_an_old_numpy(tmp_path):
    python = old_python()
    if python is None:
        pytest.skip("no Python 3.9 on this machine")
    subprocess.run([python, "-m", "venv", tmp_path / "old"], check=True)
    install = [tmp_path / "old/bin/pip", "install", "--quiet", "--disable-pip-version-check", "numpy==1.23.5"]
    if subprocess.run(install, capture_output=True).returncode:
        pytest.skip("numpy 1.23 cannot be installed here")
    for case in (Case("mnist_cnn", "fake", 10), Case("lenet", "reference", 4)):
        worker = job_folder(tmp_path, case)
        done = run(tmp_path / "old/bin/python", worker)
        assert done.returncode == 0, done.stderr
        record = msgspec.json.decode((worker.parent / "record.json").read_bytes(), type=Record)
        assert record.status == "ok", record.message
        assert record.software.python.startswith("3.9")
