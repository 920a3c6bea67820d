"""Somebody at a login node of the test cluster, with a site file and a store of his own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from steptime.core.schema import Record
from steptime.store.files import Store
from tests.slurm.cluster import Cluster, wait_for

STEPTIME = Path(sys.executable).with_name("steptime")
FAKE = ("mlp", "-B", "fake", "--phase", "training", "--contended-rounds", "0")
SLEEPY = (*FAKE, "-b", "sleep=true", "-b", "step_ms=50.0", "--target", "1e-9", "--max-seconds", "1000", "--limit-seconds", "1000")
SITE = """
description = "the test cluster; its GPUs are pretended, so that the worker runs on the CPU"
cores = 1
poll_seconds = 1
{more}

[defaults]
partition = "def"
memory = "{memory}"

[devices.k80]
partition = "gpu"
device = "cpu"
counts = [1, 2, 4]

[devices.p100]
partition = "gpu"
device = "cpu"
counts = [1, 2]

[directories]
scratch = "$SCRATCH"
local = "$LOCAL"
{tables}
"""


@dataclass
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass
class User:
    cluster: Cluster
    folder: Path
    more: str = ""
    tables: str = ""
    env: dict[str, str] = field(default_factory=dict)
    memory: str = "200M"

    def __post_init__(self) -> None:
        (self.folder / "sites").mkdir(parents=True)
        (self.folder / "sites" / "test.toml").write_text(SITE.format(more=self.more, tables=self.tables, memory=self.memory))

    @property
    def store(self) -> Store:
        return Store(self.folder / "steptime-results")

    @property
    def records(self) -> list[Record]:
        return self.store.read()[0]

    @property
    def environment(self) -> dict[str, str]:
        kept = {k: v for k, v in self.cluster.environment.items() if k != "STEPTIME_STORE"}
        return {**kept, "STEPTIME_HOME": os.environ["STEPTIME_HOME"], **self.env}

    def command(self, *arguments: str | Path) -> list[str]:
        return [str(STEPTIME), *map(str, arguments)]

    def steptime(self, *arguments: str | Path, timeout: float = 120, **env: str) -> Done:
        done = subprocess.run(
            self.command(*arguments),
            capture_output=True,
            text=True,
            cwd=self.folder,
            timeout=timeout,
            env={**self.environment, **env},
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def start(self, *arguments: str | Path, **env: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command(*arguments),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env={**self.environment, **env},
        )

    def jobs(self) -> list[tuple[str, str, str]]:
        """(id, state, folder) of every job of this store that Slurm remembers."""
        shown = self.cluster.run("squeue", "--noheader", "--array", "--states=all", "--format=%i|%T|%Z")
        lines = [tuple(line.split("|", 2)) for line in shown.splitlines() if line.count("|") >= 2]
        return [(job, state, folder) for job, state, folder in lines if folder.startswith(str(self.store.root))]

    def wait_for_state(self, state: str, count: int, timeout: float = 30) -> list[str]:
        """The jobs in that state, once there are so many."""
        wait_for(lambda: len(self._in_state(state)) >= count, timeout, f"{count} jobs to be {state}")
        return self._in_state(state)

    def _in_state(self, state: str) -> list[str]:
        return [job for job, found, _ in self.jobs() if found == state]

    def sweep_folder(self) -> Path:
        return sorted(self.store.root.glob("sweeps/*"))[-1]


def statuses(records: Sequence[Record]) -> list[str]:
    return sorted(record.status for record in records)
