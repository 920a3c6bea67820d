"""The device of a case that names none."""

import json

import pytest

from steptime.cli import run
from steptime.core.schema import Case
from steptime.environments import default_device as module
from steptime.environments.default_device import default_device, gpu_names
from steptime.environments.install import LOCK, MARKER, environment
from steptime.environments.pins import pins
from steptime.plan.expand import Expansion, expanded
from steptime.plan.plan import Plan


@pytest.fixture(autouse=True)
def nothing_is_known():
    module._built_for_cuda.cache_clear()
    yield
    module._built_for_cuda.cache_clear()


@pytest.fixture
def machine(monkeypatch, home):
    """One that has so many GPUs and PyTorch and TensorFlow for this platform."""

    def with_gpus(count, platform="cuda"):
        monkeypatch.setattr(module, "gpu_names", lambda: ["NVIDIA A100"] * count)
        for name in ("pytorch", "tensorflow"):
            env = environment(name)
            env.folder.mkdir(parents=True, exist_ok=True)
            (env.folder / MARKER).write_text(json.dumps({"packages": pins(name, platform).wanted}))

    return with_gpus


def cases(**constants):
    return expanded(Expansion(Plan("p", constants={"model": ["mlp"], **constants}), cores=4, default_device=default_device))


def test_a_gpu_that_the_framework_was_built_for_is_the_default(machine):
    machine(1)
    assert [case.device for case in cases(backend=["pytorch", "tensorflow"])] == ["cuda", "cuda"]


def test_without_a_gpu_it_is_the_cpu(machine):
    machine(0)
    assert [case.device for case in cases(backend=["pytorch"])] == ["cpu"]


def test_packages_for_the_cpu_run_on_the_cpu(machine):
    machine(1, platform="cpu")
    devices = {case.backend: case.device for case in cases(backend=["pytorch", "tensorflow", "jax"])}
    assert devices == {"pytorch": "cuda", "tensorflow": "cpu", "jax": "cpu"}  # PyTorch's are the same; JAX is not installed


def test_a_build_for_the_cpu_under_the_same_name_runs_on_the_cpu(machine):
    machine(1)
    (environment("pytorch").folder / LOCK).write_text("numpy==2.4.6\ntorch==2.13.0+cpu\n")
    assert [case.device for case in cases(backend=["pytorch"])] == ["cpu"]


def test_a_backend_without_cuda_runs_on_the_cpu(machine):
    machine(1)
    assert {case.device for case in cases(backend=["null", "reference", "openvino"], phase=["inference"])} == {"cpu"}


def test_more_devices_than_gpus_are_ranks_on_the_cpu(machine):
    machine(2)
    assert [case.device for case in cases(backend=["pytorch"], devices=[1, 2, 4])] == ["cuda", "cuda", "cpu"]


def test_a_device_that_is_named_is_taken(machine):
    machine(1)
    assert [case.device for case in cases(backend=["pytorch"], device=["cpu"])] == ["cpu"]


def test_hidden_gpus_do_not_count(monkeypatch):
    class Hidden:
        def devices(self):
            return []

    monkeypatch.setattr(module, "open_nvml", lambda: Hidden())
    gpu_names.cache_clear()
    assert gpu_names() == []
    gpu_names.cache_clear()


@pytest.mark.parametrize(
    ("devices", "line"),
    [
        (["cuda"], "device: cuda (NVIDIA A100); --device cpu measures the CPU\n"),
        (["cpu"], "device: cpu; pytorch on the CPU, although there is a GPU (NVIDIA A100): --device cuda\n"),
    ],
)
def test_run_says_which_device_it_took(monkeypatch, capsys, devices, line):
    monkeypatch.setattr(module, "gpu_names", lambda: ["NVIDIA A100"])
    run._name_device([Case("mlp", "pytorch", 8, device=device) for device in devices])
    assert capsys.readouterr().err == line


def test_without_a_gpu_there_is_nothing_to_say(monkeypatch, capsys):
    monkeypatch.setattr(module, "gpu_names", lambda: [])
    run._name_device([Case("mlp", "pytorch", 8)])
    assert capsys.readouterr().err == ""
