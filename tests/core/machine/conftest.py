import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest

from steptime.core.machine.nvml import LIBRARY


@pytest.fixture(scope="session")
def nvml_library(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of a library that has NVML's interface and the values of the variable FAKE_NVML."""
    compiler = shutil.which("cc") or pytest.skip("there is no C compiler to make a library of")
    path = tmp_path_factory.mktemp("nvml") / LIBRARY
    source = Path(__file__).with_name("fake_nvml.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-Wall", "-Werror", "-o", path, source], check=True)
    assert ctypes.CDLL(str(path)).nvmlInit_v2() == 0
    return str(path)
