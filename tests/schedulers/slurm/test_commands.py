"""What Slurm's commands answer becomes an id, a refusal or no answer. The commands are scripts that print what Slurm prints."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from steptime.core.errors import UsageError
from steptime.schedulers.scheduler import EndedJob, Full, NoAnswer, Refused
from steptime.schedulers.slurm.commands import Slurm

SINCE = datetime(2026, 11, 1, 10, tzinfo=UTC)


@pytest.fixture
def commands(tmp_path, monkeypatch):
    """Puts a command on PATH that prints `out` and `err` and ends with `code`."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def put(name: str, out: str = "", err: str = "", code: int = 0) -> None:
        text = f"#!/bin/sh\ncat <<'END'\n{out}\nEND\ncat >&2 <<'END'\n{err}\nEND\nexit {code}\n"
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)

    return put


def test_an_accepted_job_has_a_number(commands, tmp_path):
    commands("sbatch", "sbatch: warning\n4711;cluster")
    assert Slurm().submit(tmp_path, "n") == "4711"


@pytest.mark.parametrize(
    ("err", "kind"),
    [
        ("sbatch: error: Batch job submission failed: Invalid partition name specified", Refused),
        (
            "sbatch: error: QOSMaxSubmitJobPerUserLimit\nsbatch: error: Job violates accounting/QOS policy (job submit limit)",
            Full,
        ),
        ("sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)", NoAnswer),
        ("sbatch: error: Batch job submission failed: Socket timed out on send/recv operation", NoAnswer),
    ],
)
def test_what_is_not_accepted_is_refused_full_or_unknown(commands, tmp_path, err, kind):
    commands("sbatch", err=err, code=1)
    with pytest.raises(kind) as caught:
        Slurm().submit(tmp_path, "n")
    assert caught.type is kind


def test_an_answer_without_a_number_is_no_answer(commands, tmp_path):
    commands("sbatch", "hello")
    with pytest.raises(NoAnswer, match="hello"):
        Slurm().submit(tmp_path, "n")


def test_without_the_commands_a_person_is_told_where_to_go(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="login node"):
        Slurm().submit(tmp_path, "n")


def test_a_question_that_squeue_refuses_is_not_answered_and_may_be_asked_again(commands):
    commands("squeue", err="slurm_load_jobs error: Unspecified error", code=1)
    with pytest.raises(NoAnswer, match="Unspecified error"):
        Slurm().queue(["n"])
    assert Slurm().queue([]) == {}, "nothing is asked about nothing"


def test_a_job_is_found_by_name_in_the_queue_and_then_in_accounting(commands):
    commands("squeue", "17_1|RUNNING|n|def|c1|None")
    assert Slurm().find("n", SINCE) == "17"
    commands("squeue")
    commands("sacct", "18|COMPLETED|0:0|0:0|c1|n")
    assert Slurm().find("n", SINCE) == "18"
    commands("sacct", err="Slurm accounting storage is disabled", code=1)
    assert Slurm().find("n", SINCE) == ""


def test_the_cause_of_an_end_is_taken_from_all_that_answers(commands):
    commands("sacct", err="Slurm accounting storage is disabled", code=1)
    commands("scontrol", "JobId=5 JobState=FAILED DerivedExitCode=0:125")
    causes = Slurm().failure_causes([EndedJob("5", True, 1, 900.0)], {})
    assert causes["5"].kind == "out_of_memory"
    commands("scontrol", err="slurm_load_jobs error: Invalid job id specified", code=1)
    assert Slurm().failure_causes([EndedJob("5", True, None, 900.0)], {})["5"].kind == "crash"


def test_complaints_of_scancel_are_given_back(commands):
    commands("scancel", err="scancel: error: Kill job error on job id 5: Access/permission denied", code=1)
    assert "permission denied" in Slurm().cancel(["5"])
    commands("scancel")
    assert Slurm().cancel(["5"]) == ""


def test_the_largest_array_is_what_the_configuration_says(commands):
    commands("scontrol", "MaxArraySize            = 4001")
    assert Slurm().largest_array() == 4001
