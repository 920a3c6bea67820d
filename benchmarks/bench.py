"""steptime's own cost, as ratios taken in turns within one run: `make bench`."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

from steptime.backends.base import find
from steptime.environments.choose import interpreter
from steptime.errors import SetupError
from steptime.schema import Case

HERE = Path(__file__).parent
LIMITS = {
    "harness_overhead": 1.01,
    "cli_start": 0.15,
    "loop_overhead_us": 2.0,
    "list_10000": 1.5,
    **dict.fromkeys(("tf_mnist_train", "tf_mnist_infer", "tf_resnet_train", "tf_resnet_infer"), 1.02),
}


def main() -> int:
    missed = 0
    for name, measure in (
        ("cli_start", cli_start),
        ("loop_overhead_us", loop_overhead_us),
        ("list_10000", list_10000),
        ("harness_overhead", harness_overhead),
        ("tf_mnist_train", lambda: tensorflow("mnist_cnn", "training")),
        ("tf_mnist_infer", lambda: tensorflow("mnist_cnn", "inference")),
        ("tf_resnet_train", lambda: tensorflow("resnet50", "training")),
        ("tf_resnet_infer", lambda: tensorflow("resnet50", "inference")),
    ):
        try:
            value, words = measure()
        except SetupError as problem:
            print(f"{name:18} skipped: {problem}")
            continue
        missed += value > LIMITS[name]
        print(f"{name:18} {value:8.3f}  (at most {LIMITS[name]:g})  {words}", flush=True)
    return 1 if missed else 0


def cli_start() -> tuple[float, str]:
    """Seconds of `steptime --version`, the best of many: what is not noise."""
    command = [Path(sys.executable).with_name("steptime"), "--version"]
    return min(_seconds(command) for _ in range(15)), "s for `steptime --version`, best of 15"


def loop_overhead_us() -> tuple[float, str]:
    """What the timed loop itself adds to a step that does nothing."""
    from steptime.backends.null import NullProgram
    from steptime.schema import Budget
    from steptime.worker.loop import measure

    run = measure(NullProgram(), Budget(max_steps=100_000, min_steps=10**9), lambda seconds: None)
    return 1e6 * statistics.median(run.seconds), "µs per step in the timed loop, null backend, median"


def list_10000() -> tuple[float, str]:
    """Reading and flattening 10,000 records of 200 steps each."""
    import tempfile
    from dataclasses import replace

    from steptime.schema import Record, Steps, to_json
    from steptime.store.files import Store
    from steptime.store.index import index

    with tempfile.TemporaryDirectory() as name:
        store = Store(Path(name))
        folder = store.records_folder / "2026" / "01"
        folder.mkdir(parents=True)
        steps = Steps([0.0123456789 + i * 1e-6 for i in range(200)], 3, "", "target")
        record = Record("x", "crash", Case("mlp", "null", 8), "2026-01-01T00:00:00.000+00:00", steps=steps)
        for i in range(10_000):
            (folder / f"{i}.json").write_text(to_json(replace(record, id=str(i))))
        began = time.perf_counter()
        assert len(index(store).rows) == 10_000
        return time.perf_counter() - began, "s to index 10,000 records of 200 steps"


def harness_overhead() -> tuple[float, str]:
    """Mean step under steptime / mean step of a bare hand-written loop of the same PyTorch code, in turns in one process."""
    return _ratio("pytorch", "mnist_cnn training batch 50", "bare_pytorch.py")


def tensorflow(model: str, phase: str) -> tuple[float, str]:
    """Mean step under steptime / mean step of keras layers (keras.applications) in a tf.function written by hand."""
    return _ratio("tensorflow", f"{model} {phase}, TensorFlow", "bare_tensorflow.py", model, phase)


def _ratio(backend: str, words: str, script: str, *arguments: str) -> tuple[float, str]:
    """Of the lines that a script prints in a framework's environment."""
    python = interpreter(backend)
    variables = find(backend).environment(Case("mnist_cnn", backend, 1, threads=1))
    environment = {"PYTHONPATH": str(HERE.parent / "src"), **variables}
    done = subprocess.run([python, HERE / script, *arguments], capture_output=True, text=True, env=environment)
    if done.returncode:
        raise SetupError(done.stderr.strip().splitlines()[-1])
    ratios = sorted(float(line) for line in done.stdout.split())
    low, high = ratios[len(ratios) // 10], ratios[-1 - len(ratios) // 10]
    return statistics.median(ratios), f"{words}, median of {len(ratios)} pairs of blocks, 80% between {low:.3f} and {high:.3f}"


def _seconds(command: list[str | Path]) -> float:
    began = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
