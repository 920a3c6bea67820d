"""200 small cases on a real Slurm, as one array: submitted, looked at, all records in."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from steptime.core.errors import SetupError
from steptime.store.files import Store

sys.path.insert(0, str(Path(__file__).parents[1]))

STEPTIME = Path(sys.executable).with_name("steptime")
CASES = 200
HOLD_SECONDS = 12
"""the tasks begin only then, so that it is not they that are measured"""
SITE = f"""
cores = 1
[defaults]
partition = "def"
memory = "100M"
sbatch = ["--begin=now+{HOLD_SECONDS}"]
"""
RUN = ["run", "mlp", "-B", "fake", "--phase", "training", "--seed", ",".join(map(str, range(1, CASES + 1)))]


def slurm_200() -> Iterator[tuple[str, float, str]]:
    from tests.slurm import cluster

    if reason := cluster.missing():
        raise SetupError(reason)
    with cluster.running() as slurm, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "sites").mkdir()
        (folder / "sites" / "bench.toml").write_text(SITE)
        environment = {**slurm.environment, "STEPTIME_STORE": str(folder / "store")}

        def seconds(*arguments: str) -> float:
            began = time.perf_counter()
            subprocess.run([STEPTIME, *arguments], cwd=folder, env=environment, capture_output=True, check=True)
            return time.perf_counter() - began

        yield "slurm_submit_200", seconds(*RUN, "--on", "bench", "--detach"), f"s to submit {CASES} cases as an array"
        waiting = min(seconds("status") for _ in range(7))
        seconds("resume", "--contended-rounds", "0")
        finished = min(seconds("status") for _ in range(7))
        words = f"s for `steptime status` of {CASES}: {waiting:.3f} while they wait, {finished:.3f} when they are done, best of 7"
        yield "slurm_status_200", max(waiting, finished), words
        records, _ = Store(folder / "store").read()
        yield "slurm_records_200", sum(record.status == "ok" for record in records), f"records of {CASES} cases"


if __name__ == "__main__":
    os.environ.pop("STEPTIME_STORE", None)
    for figure in slurm_200():
        print(*figure)
