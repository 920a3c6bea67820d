"""kill -9 of the controller at any moment: before, during and after sbatch. No case is lost, none is submitted twice."""

from __future__ import annotations

import random
import shutil
import subprocess
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.slurm.cluster import wait_for
from tests.slurm.user import FAKE, User, statuses

pytestmark = pytest.mark.real

POINTS, AT_ONCE, CASES = 36, 4, 2
DEATHS = ("before any intent", "between intent and answer", "after an answer")
SLOW_SBATCH = """#!/bin/bash
# The real sbatch, with time to be killed before and after; and the real one is no child of ours that dies with us.
sleep 0.$((RANDOM % 3))
{sbatch} "$@"
code=$?
sleep 0.$((RANDOM % 3))
exit $code
"""


@pytest.fixture
def slow_sbatch(tmp_path) -> Path:
    (tmp_path / "bin").mkdir()
    path = tmp_path / "bin" / "sbatch"
    path.write_text(SLOW_SBATCH.format(sbatch=shutil.which("sbatch")))
    path.chmod(0o755)
    return path.parent


def killed_and_resumed(user: User, wanted: str, after_seconds: float, slow: Path) -> str:
    """What was there when the controller died, which is so long after the wanted point was reached."""
    path = f"{slow}:{user.environment['PATH']}"
    command = ["run", *FAKE, "--on", "test", "-n", ",".join(map(str, range(1, CASES + 1)))]
    controller = user.start(*command, PATH=path)
    if wanted != DEATHS[0]:
        wait_for(lambda: DEATHS.index(found_at(user)) >= DEATHS.index(wanted), 30, wanted)
    time.sleep(after_seconds)
    controller.kill()
    controller.communicate()
    seen = found_at(user)
    begun = list(user.store.root.glob("sweeps/*/sweep.json"))
    done = user.steptime("resume") if begun else user.steptime(*command)
    assert done.code == 0, done.err
    return seen


def found_at(user: User) -> str:
    folders = list(user.store.root.glob("sweeps/*/submissions"))
    if not folders:
        return DEATHS[0]
    intents, jobs = len(list(folders[0].glob("*.json"))), len(list(folders[0].glob("*.job")))
    return DEATHS[0] if not intents else DEATHS[1] if jobs < intents else DEATHS[2]


def test_three_dozen_deaths_lose_no_case_and_submit_none_twice(slurm, tmp_path, slow_sbatch):
    chance = random.Random(11)
    users = [User(slurm, tmp_path / f"user-{i}") for i in range(POINTS)]
    moments = [(DEATHS[i % 3], chance.uniform(0, 0.6) if i % 2 else 0.0) for i in range(POINTS)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        seen = Counter(pool.map(lambda user, moment: killed_and_resumed(user, *moment, slow_sbatch), users, moments))
    jobs: dict[str, list[str]] = {}
    shown = slurm.run("squeue", "--noheader", "--states=all", "--format=%i|%T|%Z")
    for line in shown.splitlines():
        job, state, folder = line.split("|", 2)
        jobs.setdefault(folder, []).append(f"{job} {state}")
    for user in users:
        assert statuses(user.records) == ["ok"] * CASES
        assert sorted(record.case.batch for record in user.records) == [1, 2]
        assert len(list(user.store.root.glob("sweeps/*/*/try-*"))) == CASES, "each case ran once"
        for folder in user.store.root.glob("sweeps/*/mlp-*"):
            assert len(jobs[str(folder)]) == 1, f"{folder}: {jobs[str(folder)]}"
    assert set(seen) == set(DEATHS), f"the deaths were too much alike: {seen}"


def test_a_job_that_was_accepted_after_its_submission_was_given_up_does_not_run(slurm, tmp_path):
    """The last resort: the answer of a slow Slurm comes when somebody has already submitted the case anew."""
    user = User(slurm, tmp_path / "user")
    assert user.steptime("run", *FAKE, "--on", "test").code == 0
    (folder,) = user.sweep_folder().glob("mlp-*")
    (name,) = (path.stem for path in user.sweep_folder().glob("submissions/*.json"))
    (user.sweep_folder() / "submissions" / f"{name}.abandoned").write_text("given up\n")
    job = slurm.run("sbatch", "--parsable", f"--job-name={name}", "script.sh", cwd=folder).strip()
    assert slurm.wait(int(job)) == "COMPLETED"
    assert "was given up" in (folder / f"slurm-{job}.out").read_text()
    assert len(user.records) == 1 and not (folder / f"try-{job}").exists()


def test_deaths_are_real(slurm, tmp_path):
    """The test above would prove nothing if the controller ended before it was killed."""
    user = User(slurm, tmp_path / "user")
    controller = user.start("run", *FAKE, "--on", "test")
    time.sleep(0.5)
    controller.kill()
    assert controller.wait() == -9
    subprocess.run(["scancel", "--user=root"], env=user.environment, check=True)
