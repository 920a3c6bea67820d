"""`steptime run --on SITE` against a real Slurm: submitted, measured, delivered, with and without somebody who waits."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.slurm.cluster import wait_for
from tests.slurm.user import FAKE, SLEEPY, User, statuses

pytestmark = pytest.mark.real


@pytest.fixture
def user(slurm, tmp_path):
    found = User(slurm, tmp_path / "user")
    yield found
    for job, _, _ in found.jobs():
        slurm.try_run("scancel", job)


def test_records_say_which_job_node_partition_and_devices_they_had(user):
    done = user.steptime("run", *FAKE, "--on", "test", "--device", "cpu,k80,p100", "--json")
    assert done.code == 0, done.err
    given = {record.case.device: record.allocation for record in user.records}
    assert given["cpu"].partition == "def" and given["cpu"].nodes[0] in ("c1", "c2", "c3")
    assert (given["cpu"].gres, given["cpu"].visible_devices) == ("", "")
    assert (given["k80"].partition, given["k80"].nodes, given["k80"].gres) == ("gpu", ["gk1"], "gpu:k80:1")
    assert given["p100"].nodes[0] in ("gp1", "gp2")
    assert given["k80"].visible_devices == given["p100"].visible_devices == "0"
    assert {a.ran_on for a in given.values()} == {"cpu"}, "pretended GPUs: the record says what it really ran on"
    assert all(a.queue_seconds is not None and a.queue_seconds >= 0 for a in given.values())
    rows = {row["device_asked"]: row for row in done.json}
    assert rows["k80"]["device_type"] == "cpu" and rows["k80"]["partition"] == "gpu" and rows["k80"]["job"]
    assert "site test" in " ".join(user.steptime("show").out.split())


def test_numbers_of_devices_that_the_site_lacks_are_unsupported_and_the_others_run(user):
    done = user.steptime("run", *FAKE, "--on", "test", "--device", "p100", "--devices", "1,4")
    assert done.code == 1
    assert statuses(user.records) == ["ok", "unsupported"]
    assert "test allows 1 or 2 p100 per node, not 4" in done.out


def test_many_cases_of_the_same_request_become_an_array(user):
    done = user.steptime("run", *FAKE, "--on", "test", "--seed", ",".join(map(str, range(1, 25))), "--json")
    assert done.code == 0, done.err
    assert statuses(user.records) == ["ok"] * 24
    arrays = {record.allocation.job.partition("_")[0] for record in user.records}
    assert len(arrays) == 1 and len({record.allocation.job for record in user.records}) == 24
    assert len(list(user.sweep_folder().glob("array-001/slurm-*.out"))) == 24


def test_a_detached_sweep_is_looked_at_awaited_and_counted_by_whoever_comes_later(user):
    began = user.steptime("run", *SLEEPY, "--on", "test", "--detach", "-n", "1,2", "--max-steps", "100", "--json")
    assert began.code == 0 and [row["cases"] for row in began.json] == [1, 1]
    assert not user.records
    (status,) = user.steptime("status", "--json").json
    assert (status["state"], status["site"], status["total"], status["done"]) == ("running", "test", 2, 0)
    assert sum(status["jobs"].values()) == 2
    waited = user.steptime("resume", "--json")
    assert waited.code == 0 and [row["status"] for row in waited.json] == ["ok", "ok"]
    assert len(user.jobs()) == 2, "waiting submits nothing"
    assert user.steptime("status", "--json").json[0]["state"] == "finished"


def test_a_detached_sweep_that_nobody_waits_for_delivers_its_records(user):
    assert user.steptime("run", *FAKE, "--on", "test", "--detach").code == 0
    wait_for(lambda: len(user.records) == 1, 30, "the record")
    assert user.steptime("status").out.count("finished") == 1


def test_status_says_in_words_why_jobs_wait(user):
    user.cluster.run("sbatch", "--partition=gpu", "--gres=gpu:k80:4", "--wrap=sleep 600", "--exclusive")
    done = user.steptime("run", *SLEEPY, "--on", "test", "--detach", "--device", "k80", "-n", "1,2,3,4,5")
    assert done.code == 0, done.err
    wait_for(lambda: "waits for 1 k80 in gpu" in user.steptime("status").out, 20, "the reason")
    user.cluster.run("scancel", "--name=wrap")


def test_a_sweep_is_cancelled_from_anywhere_and_goes_on_later(user):
    assert user.steptime("run", *SLEEPY, "--on", "test", "--detach", "-n", "1,2", "--max-steps", "120").code == 0
    user.wait_for_state("RUNNING", 2)
    assert "has jobs on test" in user.steptime("archive", user.sweep_folder().name).err
    done = user.steptime("cancel")
    assert done.code == 0 and "is cancelled: jobs" in done.out, done.err
    assert statuses(user.records) == ["cancelled", "cancelled"]
    assert user.steptime("status", "--json").json[0]["state"] == "interrupted"
    assert "has no jobs on test" in user.steptime("cancel").err
    assert user.steptime("resume").code == 0
    assert statuses(user.records) == ["cancelled", "cancelled", "ok", "ok"]


def test_somebody_who_waits_sees_that_another_cancelled(user):
    waiting = user.start("run", *SLEEPY, "--on", "test", "-n", "1,2")
    user.wait_for_state("RUNNING", 2)
    assert "already running (process" in user.steptime("resume").err
    assert user.steptime("cancel").code == 0
    out, _ = waiting.communicate(timeout=60)
    assert waiting.returncode == 1 and out.count("cancelled: job") == 2


def test_ctrl_c_leaves_the_jobs_running(user):
    waiting = user.start("run", *SLEEPY, "--on", "test", "--max-steps", "120")
    (job,) = user.wait_for_state("RUNNING", 1)
    waiting.send_signal(2)
    _, errors = waiting.communicate(timeout=60)
    assert waiting.returncode == 130 and "Traceback" not in errors
    assert "the jobs keep running" in errors
    assert user.cluster.state(job) == "RUNNING"
    assert user.steptime("resume").code == 0
    assert statuses(user.records) == ["ok"] and len(user.jobs()) == 1


def test_a_person_submits_a_script_again_and_gets_a_new_record(user):
    assert user.steptime("run", *FAKE, "--on", "test").code == 0
    (script,) = user.sweep_folder().glob("mlp-*/script.sh")
    assert [path.name for path in script.parent.glob("slurm-*.out")] == [f"slurm-{user.records[0].allocation.job}.out"]
    text = script.read_text()
    script.write_text(text.replace("--partition=def", "--partition=gpu"))
    job = user.cluster.run("sbatch", "--parsable", script.name, cwd=script.parent).strip()
    assert user.cluster.wait(int(job)) == "COMPLETED"
    first, second = sorted(user.records, key=lambda record: int(record.allocation.job))
    assert (second.status, second.allocation.job, second.allocation.partition) == ("ok", job, "gpu")
    assert first.case == second.case and first.id != second.id
    elsewhere = user.cluster.run("sbatch", "--parsable", script, cwd=user.folder).strip()
    assert user.cluster.wait(int(elsewhere)) == "COMPLETED"
    assert len(user.records) == 3
    assert user.steptime("status", "--json").json[0]["done"] == 1


def test_a_moved_store_still_runs_its_scripts(user, tmp_path):
    assert user.steptime("run", *FAKE, "--on", "test").code == 0
    (user.folder / "steptime-results").rename(tmp_path / "moved")
    (script,) = (tmp_path / "moved").glob("sweeps/*/mlp-*/script.sh")
    job = user.cluster.run("sbatch", "--parsable", script.name, cwd=script.parent).strip()
    assert user.cluster.wait(int(job)) == "COMPLETED"
    assert len(list((tmp_path / "moved" / "records").glob("*/*/*.json"))) == 2


HOSTILE = [
    "a b",
    'it\'s "quoted"',
    "$(touch pwned)",
    "new\nline\n#SBATCH --time=1",
    "`touch pwned`;touch pwned&",
    "per%j%Acent\\",
]


@pytest.mark.parametrize("array", [False, True], ids=["job", "array"])
def test_nothing_in_a_path_a_plan_or_a_label_is_executed(slurm, tmp_path, array):
    folder = tmp_path.joinpath(*HOSTILE)
    user = User(slurm, folder, tables="[arrays]\nat_least = 2" if array else "")
    plan = folder / "p'l$(touch pwned)\nan.toml"
    evil = json.dumps("\n".join(HOSTILE))
    plan.write_text(f'[constants]\nmodel="mlp"\nbackend="fake"\nphase="training"\n[axes]\nseed=[1,2]\n[labels]\nnote={evil}\n')
    done = user.steptime("run", plan.name, "--on", "test", "--label", "x=$(touch pwned)\n'\"`", "--store", folder / "st 'o$(re)")
    assert done.code == 0, done.err
    records = list((folder / "st 'o$(re)" / "records").glob("*/*/*.json"))
    assert len(records) == 2
    assert json.loads(records[0].read_text())["case"]["labels"]["note"] == "\n".join(HOSTILE)
    found = subprocess.run(["find", tmp_path, "/tmp/pwned", "/root/pwned", "-name", "pwned"], capture_output=True, text=True)
    assert found.stdout == ""


def test_a_site_is_checked_with_tiny_jobs(slurm, tmp_path):
    user = User(slurm, tmp_path / "user", tables='nowhere = "$NOWHERE"\n[backends.reference]\npython = "/nowhere/python"')
    done = user.steptime("sites", "check", "test", "--json")
    assert done.code == 1, done.err
    found = {row["what"]: row for row in done.json}
    assert found["directory scratch on cpu"]["works"] and "GB free" in found["directory local on p100"]["seen"]
    assert (found["directory nowhere on k80"]["works"], found["directory nowhere on k80"]["seen"]) == (
        False,
        "its variable is not set",
    )
    assert not found["reference on 1 node in def"]["works"]
    assert "exit code 1 at: python=/nowhere/python;" in found["reference on 1 node in def"]["seen"]
