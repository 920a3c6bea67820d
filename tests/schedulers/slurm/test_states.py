"""What Slurm prints, and what it means for a case. The texts were printed by Slurm 22.05."""

import pytest

from steptime.schedulers.scheduler import EndedJob
from steptime.schedulers.slurm.states import (
    Accounted,
    Evidence,
    Queued,
    failure_cause,
    parse_sacct,
    parse_scontrol,
    parse_squeue,
    reason_words,
)

SQUEUE = """\
7|COMPLETED|steptime-ab-1|def|c1|None
9_3|PENDING|steptime-ab-2|gpu||Resources
11|PENDING|steptime-ab-3|gpu||Nodes required for job are DOWN, DRAINED or reserved for jobs | in higher priority partitions
torn line
"""
SACCT = """\
5|FAILED|1:0|0:0|c1|steptime-ab-1
5.batch|FAILED|1:0||c1|batch
5.0|OUT_OF_MEMORY|0:125||c1|python
6|CANCELLED by 1000|0:0|0:0|c2|steptime-ab-2
6.batch|CANCELLED|0:15||c2|batch
8_2|COMPLETED|0:0|0:0|c2|steptime-ab-2
"""


def test_squeue_is_read_line_by_line_and_a_reason_may_hold_anything():
    found = parse_squeue(SQUEUE)
    assert list(found) == ["7", "9_3", "11"]
    assert found["7"].ended and not found["9_3"].ended
    assert found["11"].reason.endswith("| in higher priority partitions")


def test_sacct_gives_jobs_with_their_steps():
    found = parse_sacct(SACCT)
    assert found["5"].steps == {"batch": ("FAILED", "1:0"), "0": ("OUT_OF_MEMORY", "0:125")}
    assert (found["6"].state, found["6"].by) == ("CANCELLED", "1000")
    assert found["8_2"].state == "COMPLETED"


def test_scontrol_gives_pairs():
    found = parse_scontrol("JobId=5 JobName=a=b JobState=FAILED Reason=NonZeroExitCode ExitCode=1:0\n DerivedExitCode=0:125\n")
    assert found["JobState"] == "FAILED" and found["DerivedExitCode"] == "0:125"


def queued(state, reason="None"):
    return Queued("5", state, "n", "def", "c1", reason)


def ended(job="5", began=False, exit_code=None, limit_seconds=0.0):
    return EndedJob(job, began, exit_code, limit_seconds)


@pytest.mark.parametrize(
    ("evidence", "kind", "words"),
    [
        (Evidence(ended(), queued("TIMEOUT")), "timeout", "job 5 reached Slurm's time limit"),
        (Evidence(ended(), queued("OUT_OF_MEMORY")), "out_of_memory", "exceeded its memory limit"),
        (Evidence(ended(began=True, exit_code=1), queued("FAILED"), parse_sacct(SACCT)["5"]), "out_of_memory", "memory limit"),
        (Evidence(ended(exit_code=137), queued("COMPLETED"), None, {"DerivedExitCode": "0:125"}), "out_of_memory", "its memory"),
        (Evidence(ended(), queued("NODE_FAIL")), "node_failure", "a node of job 5 failed (c1)"),
        (Evidence(ended(), queued("PREEMPTED")), "node_failure", "was preempted"),
        (Evidence(ended("6"), queued("CANCELLED"), parse_sacct(SACCT)["6"]), "cancelled", "job 6 was cancelled by user 1000"),
        (Evidence(ended(), queued("CANCELLED")), "cancelled", "job 5 was cancelled"),
        (Evidence(ended(began=True, exit_code=139), queued("FAILED")), "crash", "killed by SIGSEGV"),
        (Evidence(ended(began=True, exit_code=132), queued("FAILED")), "illegal_instruction", "SIGILL"),
        (Evidence(ended(began=True, exit_code=3), queued("FAILED")), "crash", "exit code 3 and no record"),
        (Evidence(ended(began=True, exit_code=124, limit_seconds=90), None), "timeout", "not done after 90 s"),
        (Evidence(ended(), queued("FAILED", "RaisedSignal:53(Real-time_signal_19)")), "launch_failed", "RaisedSignal:53"),
        (Evidence(ended(began=True), queued("FAILED", "NonZeroExitCode")), "crash", "script of job 5 was killed"),
        (Evidence(ended(began=True), None), "crash", "how it ended is unknown"),
        (Evidence(ended(began=True), None, Accounted("5", "RUNNING", "0:0", "0:0", "c1")), "crash", "unknown"),
        (Evidence(ended(), queued("DEADLINE")), "timeout", "time limit"),
    ],
)  # fmt: skip
def test_each_end_has_its_kind(evidence, kind, words):
    cause = failure_cause(evidence)
    assert (cause.kind, words in cause.message) == (kind, True), cause


def test_reasons_are_said_in_words():
    assert reason_words("Resources", "2 p100 in gpu", "gpu") == "waits for 2 p100 in gpu"
    assert reason_words("Priority", "1 node", "def") == "waits behind other jobs in def"
    assert reason_words("QOSMaxJobsPerUserLimit", "", "") == "waits for a limit of its account or QoS (QOSMaxJobsPerUserLimit)"
    assert "down, drained" in reason_words("ReqNodeNotAvail, UnavailableNodes:c1", "1 node", "def")
    assert reason_words("SomethingNew", "", "") == "waits (SomethingNew)"


def test_what_would_wait_for_ever_is_known():
    assert queued("PENDING", "DependencyNeverSatisfied").hopeless
    assert queued("PENDING", "launch failed requeued held").hopeless
    assert not queued("PENDING", "Resources").hopeless
    assert not queued("RUNNING", "None").hopeless
