"""What backends tell their frameworks on a GPU. Stand-ins take the place of the frameworks, so that no GPU is needed."""

import sys
from unittest.mock import MagicMock, call

import pytest

from steptime.core.backends.base import find
from steptime.core.backends.jax.backend import JaxProgram
from steptime.core.backends.pytorch.backend import TorchProgram
from steptime.core.schema import Case


@pytest.fixture
def started(monkeypatch):
    """The stand-in of a framework after a backend was started for a case."""

    def start(backend, module, **changes):
        framework = MagicMock(name=module)
        framework.config.list_physical_devices.return_value = ["GPU:0", "GPU:1"]
        monkeypatch.setitem(sys.modules, module, framework)
        monkeypatch.setattr(f"steptime.core.backends.{backend}.backend.use_first_cpus", lambda threads: None, raising=False)
        find(backend).start(Case("mlp", backend, 8, **changes))
        return framework

    return start


@pytest.mark.parametrize(
    ("changes", "benchmark", "tf32"),
    [
        ({"device": "cuda"}, True, False),
        ({"device": "cuda", "precision": "tf32"}, True, True),
        ({"device": "cuda", "backend_options": {"cudnn_benchmark": False}}, False, False),
        ({"device": "cpu"}, False, False),
    ],
)
def test_pytorch_searches_the_fastest_convolutions_and_uses_tf32_where_asked(started, changes, benchmark, tf32):
    backends = started("pytorch", "torch", **changes).backends
    assert backends.cudnn.benchmark is benchmark
    assert backends.cuda.matmul.allow_tf32 is backends.cudnn.allow_tf32 is tf32


def test_tensorflow_uses_one_gpu_and_only_the_memory_that_it_needs(started):
    config = started("tensorflow", "tensorflow", device="cuda").config
    assert config.set_visible_devices.mock_calls == [call(["GPU:0"], "GPU")]
    assert config.experimental.set_memory_growth.mock_calls == [call("GPU:0", True)]


def test_tensorflow_on_the_cpu_uses_no_gpu(started):
    config = started("tensorflow", "tensorflow", device="cpu").config
    assert config.set_visible_devices.mock_calls == [call([], "GPU")]
    assert not config.experimental.set_memory_growth.mock_calls


def test_jax_uses_one_gpu(started):
    assert call("jax_cuda_visible_devices", "0") in started("jax", "jax", device="cuda").config.update.mock_calls
    assert call("jax_cuda_visible_devices", "0") not in started("jax", "jax", device="cpu").config.update.mock_calls


def test_memory_is_what_was_allocated_and_what_was_reserved():
    jax = object.__new__(JaxProgram)
    jax._jax = MagicMock()
    jax._jax.devices()[0].memory_stats.return_value = {"peak_bytes_in_use": 3, "peak_pool_bytes": 4}
    assert (jax.device_peak_bytes(), jax.device_reserved_bytes()) == (3, 4)
    torch = object.__new__(TorchProgram)
    torch._torch, torch._case = MagicMock(), Case("mlp", "pytorch", 8, device="cuda")
    torch._torch.cuda.max_memory_allocated.return_value, torch._torch.cuda.max_memory_reserved.return_value = 3, 4
    assert (torch.device_peak_bytes(), torch.device_reserved_bytes()) == (3, 4)
    torch._case = Case("mlp", "pytorch", 8)
    assert torch.device_reserved_bytes() is None
