"""Two questions of somebody who buys GPUs, answered by `steptime chart` from published results."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

DATA = Path(os.environ.get("STEPTIME_TEST_DATA") or Path(__file__).parents[3] / "shared" / "data")
LOGS = DATA / "logs"
pytestmark = pytest.mark.skipif(not LOGS.is_dir(), reason=f"no logs of other tools in {LOGS}; set STEPTIME_TEST_DATA")


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> str:
    folder = str(tmp_path_factory.mktemp("buyer"))
    steptime("import", str(LOGS), "--store", folder)
    return folder


def steptime(*words: str) -> tuple[str, str]:
    done = subprocess.run([sys.executable, "-m", "steptime", *words], capture_output=True, text=True, timeout=300)
    return done.stdout, done.stderr


def test_resnet50_in_half_precision_per_gpu(store):
    question = ["--x", "device", "-f", "model=resnet50", "-f", "precision=fp16", "-f", "phase=training", "-f", "replicas=1"]
    out, _ = steptime("chart", *question, "--json", "--store", store)
    points = {p["x"]: p for p in map(json.loads, out.splitlines())}
    assert points["A100-PCIE-40GB"]["value"] == 2075
    assert max(p["value"] or 0 for p in points.values()) == 2075


def test_what_half_precision_gains_on_inception(store):
    chosen = ["-f", "model=inception3", "-f", "phase=training", "-f", "replicas=1", "-f", "precision=fp32,fp16"]
    out, err = steptime("chart", "--x", "device", "--group", "precision", "--baseline", "fp32", *chosen, "--store", store)
    assert "geometric mean: fp16 1.99 over 11 of 11" in out
    assert "differ" not in err
