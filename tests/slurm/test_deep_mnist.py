"""PSC's Deep MNIST benchmark on a real Slurm, with one command: GPU types x counts x staging directories, and its table."""

from __future__ import annotations

import csv
import io
import os

import numpy as np
import pytest

from tests.slurm.user import User

pytestmark = pytest.mark.real

GPUS = (("k80", 1), ("k80", 2), ("k80", 4), ("p100", 1), ("p100", 2))
WANTED = {(kind, count, store) for kind, count in GPUS for store in ("scratch", "local")}
COLUMNS = ["mean_speed", "Mean_Time_Per_Step", "speed_uncertainty", "Speed_Jitter", "gpu_type", "num_gpu", "staged_from"]
COMMAND = ["run", "psc-deep-mnist", "--on", "test", "--device", "k80,p100", "--batch", "50", "--contended-rounds", "0"]
COMMAND += ["--include", "data == 'mnist'", "--exclude", "device == 'p100' and devices > 2"]
COMMAND += ["--max-steps", "8", "--min-steps", "5", "--limit-seconds", "300"]


def idx(folder, name, values):
    """In the format of MNIST's own files."""
    header = bytes([0, 0, 8, values.ndim]) + np.array(values.shape, ">i4").tobytes()
    (folder / name).write_bytes(header + values.astype(np.uint8).tobytes())


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data" / "mnist"
    folder.mkdir(parents=True)
    chance = np.random.RandomState(1)
    for split, count in (("train", 600), ("t10k", 100)):
        idx(folder, f"{split}-images-idx3-ubyte", chance.randint(0, 256, (count, 28, 28)))
        idx(folder, f"{split}-labels-idx1-ubyte", chance.randint(0, 10, count))
    return folder.parent


def test_types_counts_and_staging_directories_are_as_asked_and_the_table_is_the_centre_s(slurm, tmp_path, data, torch_python):
    python = f'[backends.pytorch]\npython = "{torch_python}"'
    user = User(slurm, tmp_path / "user", "retries = 0", python, {"STEPTIME_DATA": str(data)}, "3900M")
    done = user.steptime(*COMMAND, timeout=400)
    records = user.records
    assert {(r.case.device, r.case.devices, r.case.data_store) for r in records} == WANTED, done.err
    for record in records:
        given, case = record.allocation, record.case
        assert (record.status, record.message) == ("ok", "")
        assert (given.partition, given.gres) == ("gpu", f"gpu:{case.device}:{case.devices}")
        assert len(set(given.visible_devices.split(","))) == case.devices
        assert given.nodes[0].startswith("gk" if case.device == "k80" else "gp")
        assert given.ran_on == "cpu"
        place = slurm.scratch if case.data_store == "scratch" else slurm.root / "local" / given.nodes[0] / given.job
        assert os.path.dirname(record.staging.folder) == str(place)
        assert record.staging.store == case.data_store and record.staging.seconds > 0
    exported = user.steptime("export", "--format", "psc", "--contended").out  # jobs of one machine may well disturb each other
    table = list(csv.DictReader(io.StringIO(exported)))
    assert [name for name in table[0] if name != "verdict"] == COLUMNS
    assert {(row["gpu_type"], int(row["num_gpu"]), row["staged_from"].strip("$").lower()) for row in table} == WANTED
    assert len(table) == len(WANTED)
    assert user.steptime("export", "--format", "psc-files", "--contended", "results").code == 0
    names = {path.name.split("-", 3)[3] for path in (user.folder / "results").iterdir()}
    assert names == {f"{kind}:{count}:{store}" for kind, count, store in WANTED}
