"""4,000 logs of tf_cnn_benchmarks, 100 MB, imported by the command: seconds and peak memory of all its processes."""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import time
from pathlib import Path
from subprocess import PIPE, Popen

COUNT, BYTES = 4000, 25_000
NOISE = "2020-11-02 00:09:38.25{:04} I tensorflow/stream_executor/platform/default/dso_loader.cc:49] opened libcublas.so\n"
HEADER = """TensorFlow:  1.15
Model:       {model}
Dataset:     imagenet (synthetic)
Mode:        training
SingleSess:  False
Batch size:  {total} global
             {each} per device
Num batches: 100
Devices:     ['/gpu:0', '/gpu:1']
Data format: NCHW
Optimizer:   sgd
Variables:   replicated
==========
Step\tImg/sec\ttotal_loss
"""
STEP = "{step}\timages/sec: {speed:.1f} +/- 0.4 (jitter = 1.9)\t7.797\n"


def log(number: int) -> str:
    """As long as real ones: mostly what TensorFlow says of its libraries."""
    each = (16, 32, 64, 128)[number % 4]
    header = HEADER.format(model=("resnet50", "vgg16", "alexnet")[number % 3], each=each, total=2 * each)
    steps = "".join(STEP.format(step=step, speed=100 + number / 7) for step in (1, *range(10, 101, 10)))
    noise = "".join(NOISE.format(line) for line in range((BYTES - len(header) - len(steps)) // len(NOISE)))
    return f"{noise}{header}{steps}{'-' * 64}\ntotal images/sec: {100 + number / 7:.2f}\n{'-' * 64}\n"


def measure(steptime: Path) -> tuple[float, float, float]:
    """Seconds, megabytes resident at the most, megabytes of logs."""
    with tempfile.TemporaryDirectory() as folder:
        logs = Path(folder) / "logs"
        logs.mkdir()
        for number in range(COUNT):
            (logs / f"{number}.log").write_text(log(number))
        size = sum(path.stat().st_size for path in logs.iterdir()) / 1e6
        started = time.perf_counter()
        command = [str(steptime), "import", "--store", f"{folder}/store", str(logs), "--json"]
        with Popen(command, stdout=PIPE, text=True) as process:
            peak = _watch(process)
            assert process.stdout
            lines = process.stdout.readlines()
        seconds = time.perf_counter() - started
    assert process.returncode == 0 and sum(len(json.loads(line)["records"]) for line in lines) == COUNT
    return seconds, max(peak) / 1e6, size


def _watch(process: Popen[str]) -> list[int]:
    """The memory of the process and its children, summed every 20 ms; shared pages count for each."""
    peak = [0]

    def look() -> None:
        while process.poll() is None:
            peak.append(_tree(process.pid))
            time.sleep(0.02)

    threading.Thread(target=look, daemon=True).start()
    return peak


def _tree(pid: int) -> int:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        resident = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096
    except (OSError, IndexError, ValueError):
        return 0
    return resident + sum(_tree(int(child)) for child in children)


if __name__ == "__main__":
    seconds, resident, size = measure(Path(sys.executable).with_name("steptime"))
    print(f"{seconds:.2f} s, {resident:.0f} MB resident, {size:.0f} MB of logs")
