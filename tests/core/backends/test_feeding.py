"""Backends that take a new batch for every step compute with that batch, and with no earlier one."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import steptime
from steptime.core.backends.base import find, names
from steptime.core.schema import Case, Job, Phase, to_json
from steptime.launch.job_folder import put_worker
from tests.conftest import framework_python
from tests.core.data.idx import write_set

STEPS = 3
FRAMEWORKS = [name for name in names() if find(name).environment_name]
# How near each is to the reference in its widest type: Caffe has none but fp32, MXNet keeps learning rates in single precision.
NEAR = {"caffe": 1e-5, "mxnet": 1e-7}
INFERENCE = """\
import sys
from dataclasses import replace
from steptime.core.backends.base import find
from steptime.core.models import zoo
from steptime.core.models.weights import batch_of
from steptime.core.parity.compare import distance, program
from steptime.core.schema import Case

graph, case = zoo.build("mnist_cnn", {}), Case("mnist_cnn", sys.argv[1], 3, phase="inference", data="mnist")
find(sys.argv[1]).start(case)
theirs, truth = (program(graph, replace(case, backend=backend)) for backend in (sys.argv[1], "reference"))
before = truth.outputs()
for each in (theirs, truth):
    each.step()
    each.wait()
    each.feed(*batch_of(graph, 3, seed=2))
theirs.step()
theirs.wait()
print("FAR", distance(truth.outputs(), theirs.outputs()), distance(truth.outputs(), before))
"""


def trained(python, tmp_path, backend, data, precision):
    """All weights after three steps on three different batches."""
    folder = tmp_path / backend
    folder.mkdir()
    case = Case("mnist_cnn", backend, 4, precision=precision, data=data)
    job = Job("fed", case, kind="parity", parity_steps=STEPS, environment=find(backend).environment(case))
    (folder / "job.json").write_text(to_json(job))
    worker = put_worker(folder, tmp_path)
    done = subprocess.run([python, worker, folder], capture_output=True, text=True, timeout=300, env=dict(os.environ))
    if (folder / "record.json").exists():
        raise AssertionError(json.loads((folder / "record.json").read_text())["message"] + done.stderr[-1000:])
    with np.load(folder / "parity.npz") as arrays:
        return {name: arrays[name] for name in arrays if name.startswith(("weights/", "losses"))}


@pytest.mark.real
@pytest.mark.parametrize("backend", [name for name in FRAMEWORKS if Phase.TRAINING in find(name).phases])
def test_three_batches_train_as_in_the_reference(backend, tmp_path):
    near, precision = NEAR.get(backend, 1e-9), "fp64" if "fp64" in find(backend).precisions else "fp32"
    python = framework_python(find(backend).environment_name)
    write_set(tmp_path / "set")
    truth = trained(sys.executable, tmp_path, "reference", str(tmp_path / "set"), "fp64")
    found = trained(python, tmp_path, backend, str(tmp_path / "set"), precision)
    assert found.keys() == truth.keys()
    for name, array in truth.items():
        assert np.abs(found[name] - array).max() <= near * np.abs(array).max(), name
    assert len(set(truth["losses"])) == STEPS


@pytest.mark.real
@pytest.mark.parametrize("backend", FRAMEWORKS)
def test_a_new_batch_gives_its_own_outputs(backend):
    python, one = framework_python(find(backend).environment_name), Case("mnist_cnn", backend, 3)
    environment = {**os.environ, **find(backend).environment(one), "PYTHONPATH": str(Path(steptime.__file__).parents[1])}
    done = subprocess.run([python, "-c", INFERENCE, backend], capture_output=True, text=True, timeout=300, env=environment)
    assert "FAR" in done.stdout, done.stderr[-2000:]
    far, from_the_first = map(float, done.stdout.partition("FAR")[2].split())
    assert far < 1e-4 < 1e-2 < from_the_first


def test_every_backend_that_computes_can_be_fed():
    assert [name for name in names() if not find(name).accepts_batches] == []
