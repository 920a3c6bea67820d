"""steptime's own cost, as ratios taken in turns within one run: `make bench`."""

from __future__ import annotations

import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bench_guide
from guide_scale import guide_scale
from slurm_array import slurm_200
from verbs_scale import LIMITS as VERB_LIMITS
from verbs_scale import sweeps_100000, verbs_100000

from steptime.core.backends.base import find
from steptime.core.errors import SetupError
from steptime.core.schema import PHASES, Case
from steptime.core.stats.interval import quantile
from steptime.environments.choose import interpreter

HERE = Path(__file__).parent
STEPTIME = Path(sys.executable).with_name("steptime")
HAND_WRITTEN, HAND_MODELS = ("tensorflow", "jax"), ("mnist_cnn", "resnet50")
Figures = Iterator[tuple[str, float, str]]
# name: (worst that is accepted, whether that is the most or the least)
LIMITS = {
    "cli_start": (0.15, "at most"),
    "models_start": (0.5, "at most"),
    "loop_overhead_us": (2.0, "at most"),
    "list_10000": (2.0, "at most"),
    "plan_100000": (2.0, "at most"),
    "plan_100000_MB": (500.0, "at most"),
    "import_4000": (10.0, "at most"),
    "import_4000_MB": (500.0, "at most"),
    "harness_overhead": (1.01, "at most"),
    **{f"{b}_{m}_{p}": (1 / 0.98, "at most") for b in HAND_WRITTEN for m in HAND_MODELS for p in PHASES},
    "sweep_efficiency": (0.8, "at least"),
    "fork_against_fresh": (1.0, "at most"),
    "slurm_submit_200": (2.0, "at most"),
    "slurm_status_200": (0.3, "at most"),
    "slurm_records_200": (200.0, "at least"),
    **VERB_LIMITS,
    **bench_guide.LIMITS,
    "guide_query_ms": (60.0, "at most"),
    "guide_facets_ms": (150.0, "at most"),
    "ingest_per_s": (80_000.0, "at least"),
    "ingest_more_per_s": (8_000.0, "at least"),
}


def main() -> int:
    missed = 0
    for measure in (
        cli_start,
        models_start,
        loop_overhead_us,
        list_10000,
        verbs_100000,
        sweeps_100000,
        plan_100000,
        guide_scale,
        bench_guide.guide_in_browser,
        bench_guide.guide_clients,
        bench_guide.report_size,
        import_4000,
        harness_overhead,
        sweep_efficiency,
        fork_against_fresh,
        frameworks_against_hand,
        slurm_200,
    ):
        try:
            for name, value, words in measure():
                missed += not _report(name, value, words)
        except SetupError as problem:
            print(f"{measure.__name__:30} skipped: {problem}", flush=True)
    return 1 if missed else 0


def _report(name: str, value: float, words: str) -> bool:
    limit, side = LIMITS[name]
    good = value <= limit if side == "at most" else value >= limit
    print(f"{name:30} {value:8.3f}  ({side} {limit:g}{'' if good else ': MISSED'})  {words}", flush=True)
    return good


def cli_start() -> Figures:
    """Seconds of `steptime --version`, the best of many: what is not noise."""
    yield "cli_start", min(_seconds([STEPTIME, "--version"]) for _ in range(15)), "s for `steptime --version`, best of 15"


def models_start() -> Figures:
    yield "models_start", min(_seconds([STEPTIME, "models"]) for _ in range(7)), "s for `steptime models`, best of 7"


def loop_overhead_us() -> Figures:
    """What the timed loop itself adds to a step that does nothing."""
    from steptime.core.backends.null.backend import NullProgram
    from steptime.core.schema import Budget
    from steptime.core.worker.loop import run_steps

    run = run_steps(NullProgram(), Budget(max_steps=100_000, min_steps=10**9), lambda seconds: None)
    yield "loop_overhead_us", 1e6 * statistics.median(run.seconds), "µs per step in the timed loop, null backend, median"


def list_10000() -> Figures:
    """Reading and flattening 10,000 records of 200 steps each."""
    from dataclasses import replace

    from steptime.core.schema import Record, Steps, to_json
    from steptime.store.files import Store
    from steptime.store.lookup import read_rows

    with tempfile.TemporaryDirectory() as name:
        store = Store(Path(name))
        folder = store.records_folder / "2026" / "01"
        folder.mkdir(parents=True)
        steps = Steps([0.0123456789 + i * 1e-6 for i in range(200)], 3, "", "target")
        record = Record("x", "crash", Case("mlp", "null", 8), "2026-01-01T00:00:00.000+00:00", steps=steps)
        for i in range(10_000):
            (folder / f"{i}.json").write_text(to_json(replace(record, id=str(i))))
        began = time.perf_counter()
        assert len(read_rows(store).rows) == 10_000
        yield "list_10000", time.perf_counter() - began, "s to index 10,000 records of 200 steps"


PLAN = """
[constants]
backend = "null"
[axes]
model = ["mlp", "lenet", "mnist_cnn", "resnet50"]
phase = ["training", "inference"]
batch = [{batches}]
seed = [{seeds}]
"""


def plan_100000() -> Figures:
    """The whole command, preview and estimate included; its memory is that of the process."""
    with tempfile.TemporaryDirectory() as name:
        plan = Path(name) / "plan.toml"
        batches, seeds = (", ".join(map(str, range(1, n + 1))) for n in (125, 100))
        plan.write_text(PLAN.format(batches=batches, seeds=seeds))
        command = [STEPTIME, "run", plan, "--dry-run", "--store", Path(name) / "store"]
        yield "plan_100000", min(_seconds(command) for _ in range(5)), "s to expand and preview 100,000 cases, best of 5"
        yield "plan_100000_MB", _megabytes(command), "MB, at most, of that command"


def import_4000() -> Figures:
    """4,000 logs of another tool, read by as many processes as there are cores."""
    from import_logs import COUNT, measure

    seconds, megabytes, size = measure(STEPTIME)
    yield "import_4000", seconds, f"s to import {COUNT} tf_cnn_benchmarks logs, {size:.0f} MB"
    yield "import_4000_MB", megabytes, "MB resident in all its processes"


def harness_overhead() -> Figures:
    """Mean step under steptime / mean step of a bare hand-written loop of the same PyTorch code, in turns in one process."""
    yield "harness_overhead", *_ratio("pytorch", "bare_pytorch.py")


def frameworks_against_hand() -> Figures:
    """Mean step under steptime / mean step of what a person would write: keras layers in a tf.function, plain jitted JAX."""
    for backend in HAND_WRITTEN:
        for model in HAND_MODELS:
            for phase in PHASES:
                yield f"{backend}_{model}_{phase}", *_ratio(backend, f"bare_{backend}.py", model, phase)


def _ratio(backend: str, script: str, model: str = "mnist_cnn", *phase: str) -> tuple[float, str]:
    """Of the lines that a script prints in a framework's environment, in several processes unless they would take too long."""
    python = interpreter(backend)
    variables = find(backend).environment(Case("mnist_cnn", backend, 1, threads=1))
    environment = {"PYTHONPATH": str(HERE.parent / "src"), **variables}
    ratios, beside = [], []
    processes = 1 if model == "resnet50" else 5
    for _ in range(processes):
        done = subprocess.run([python, HERE / script, model, *phase], capture_output=True, text=True, env=environment)
        if done.returncode:
            raise SetupError(done.stderr.strip().splitlines()[-1])
        found = [float(word) for word in done.stdout.split()]
        ratios, beside = sorted(ratios + found[::2]), beside + found[1::2]
    low, high = ratios[len(ratios) // 10], ratios[-1 - len(ratios) // 10]
    words = f"median of {len(ratios)} pairs, 80% between {low:.3f} and {high:.3f}"
    return statistics.median(ratios), f"{words}; beside the steps {statistics.median(beside):.1%} of their time"


BATCHES = ",".join(str(20 * i) for i in range(1, 13))


def sweep_efficiency() -> Figures:
    """Time in steps / wall time of 24 cases, and of the same cases with a fresh interpreter each."""
    interpreter("pytorch")
    grid = ["--batch", BATCHES, "--max-seconds", "3"]
    _run("--batch", "20", "--max-seconds", "0.1")  # so that nothing is found out about the machine for the first time
    (rows, wall), (fresh_rows, fresh_wall) = _run(*grid), _run(*grid, "--fresh")
    share, fresh = _stepping(rows) / wall, _stepping(fresh_rows) / fresh_wall
    yield "sweep_efficiency", share, f"{len(rows)} cases of mnist_cnn of 3 s each; {fresh:.2f} with fresh interpreters"


def fork_against_fresh() -> Figures:
    """Are the figures of forked workers those of fresh ones? Pairs in turns, each way first in half of them, with one thread.

    Processes differ from one another by more than their own intervals say, so the pairs give the interval.
    """
    interpreter("pytorch")
    one = ["--batch", "50", "--phase", "training", "--threads", "1", "--max-seconds", "3"]
    logs = []
    for pair in range(12):
        ways = ([], ["--fresh"]) if pair % 2 else (["--fresh"], [])
        speeds = {bool(way): _run(*one, *way)[0][0]["throughput"] for way in ways}
        logs.append(math.log(speeds[True] / speeds[False]))
    middle = statistics.mean(logs)
    half = quantile(0.995, len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
    low, high = math.exp(middle - half), math.exp(middle + half)
    words = f"speed fresh / forked {math.exp(middle):.3f}, 99% interval {low:.3f} to {high:.3f} of {len(logs)} pairs"
    yield "fork_against_fresh", abs(middle) / half, f"difference / half-width: {words}"


def _run(*arguments: str) -> tuple[list[dict[str, Any]], float]:
    """The rows of a sweep of mnist_cnn that ends at its budget, and its wall time."""
    with tempfile.TemporaryDirectory() as store:
        command = [STEPTIME, "run", "mnist_cnn", *arguments, "--target", "1e-6", "--contended-rounds", "0", "--json"]
        began = time.perf_counter()
        done = subprocess.run([*command, "--store", store], capture_output=True, text=True)
        wall = time.perf_counter() - began
    if done.returncode:
        raise SetupError(done.stderr.strip().splitlines()[-1])
    return [json.loads(line) for line in done.stdout.splitlines()], wall


def _stepping(rows: list[dict[str, Any]]) -> float:
    return sum(sum(row["steps"]) for row in rows)


def _megabytes(command: list[str | Path]) -> float:
    """Of a child of a small process: Linux counts the memory of whoever starts a program as the program's own."""
    script = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
    script += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3)"
    return float(subprocess.run([sys.executable, "-c", script, *command], check=True, capture_output=True, text=True).stdout)


def _seconds(command: list[str | Path]) -> float:
    began = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
