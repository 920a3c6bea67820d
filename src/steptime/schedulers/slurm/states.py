"""Parses what Slurm prints about jobs, and judges what it means for a case: pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from steptime.core.schema import FailureCause, Status
from steptime.schedulers.exit_code import script_exit_cause
from steptime.schedulers.scheduler import EndedJob, QueuedJob

QUEUE_FORMAT = "%i|%T|%j|%P|%N|%r"
ACCOUNT_FIELDS = "JobID,State,ExitCode,DerivedExitCode,NodeList,JobName"
ENDED = (
    "BOOT_FAIL",
    "CANCELLED",
    "COMPLETED",
    "DEADLINE",
    "FAILED",
    "NODE_FAIL",
    "OUT_OF_MEMORY",
    "PREEMPTED",
    "REVOKED",
    "SPECIAL_EXIT",
    "TIMEOUT",
)
OUT_OF_MEMORY_SIGNAL = "125"
"""Slurm's signal number for a step that exceeded its memory limit"""
HOPELESS = (
    "AccountNotAllowed",
    "AssocNotAllowed",
    "BadConstraints",
    "DependencyNeverSatisfied",
    "InvalidAccount",
    "InvalidQOS",
    "JobHeldAdmin",
    "PartitionNodeLimit",
    "PartitionTimeLimit",
    "QOSNotAllowed",
    "launch_failed_requeued_held",
)
"""reasons for which a job can never start"""


@dataclass(frozen=True)
class Queued:
    """A line of squeue."""

    job: str
    state: str
    name: str
    partition: str
    nodes: str
    reason: str

    @property
    def ended(self) -> bool:
        return self.state in ENDED

    @property
    def hopeless(self) -> bool:
        return self.state == "PENDING" and self.reason.replace(" ", "_") in HOPELESS

    def waiting_words(self, wanted: str) -> str:
        return reason_words(self.reason, wanted, self.partition) if self.state == "PENDING" else ""


@dataclass(frozen=True)
class Accounted:
    """A job in sacct, with its steps."""

    job: str
    state: str
    exit_code: str
    derived: str
    nodes: str
    steps: dict[str, tuple[str, str]] = field(default_factory=dict)
    """name: (state, exit code)"""
    by: str = ""
    """the user who cancelled it"""


@dataclass(frozen=True)
class Evidence:
    """All that is known of a job that left no record."""

    ended: EndedJob
    queued: QueuedJob | None = None
    accounted: Accounted | None = None
    details: Mapping[str, str] = field(default_factory=dict)
    """of scontrol"""


def parse_squeue(text: str) -> dict[str, Queued]:
    jobs = {}
    for line in text.splitlines():
        parts = line.split("|", 5)
        if len(parts) == 6:
            jobs[parts[0]] = Queued(*parts)
    return jobs


def parse_sacct(text: str) -> dict[str, Accounted]:
    jobs: dict[str, Accounted] = {}
    for line in text.splitlines():
        parts = line.split("|", 5)
        if len(parts) != 6:
            continue
        job, _, step = parts[0].partition(".")
        state, _, by = parts[1].partition(" by ")
        if not step:
            jobs[job] = Accounted(job, state, parts[2], parts[3], parts[4], by=by)
        elif job in jobs:
            jobs[job].steps[step] = (state, parts[2])
    return jobs


def parse_scontrol(text: str) -> dict[str, str]:
    """KEY=VALUE pairs of one job. Values with spaces are cut: none that is used here has any."""
    return dict(re.findall(r"(?:^|\s)([A-Za-z/:]+)=(\S*)", text))


def failure_cause(evidence: Evidence) -> FailureCause:
    """The most telling source comes first. What is unknown is said to be unknown."""
    states = _states(evidence)
    ended = evidence.ended
    job = f"job {ended.job}"
    if "OUT_OF_MEMORY" in states or any(code.endswith(f":{OUT_OF_MEMORY_SIGNAL}") for code in _codes(evidence)):
        return FailureCause(Status.OUT_OF_MEMORY, f"{job} exceeded its memory limit")
    if "TIMEOUT" in states or "DEADLINE" in states:
        return FailureCause(Status.TIMEOUT, f"{job} reached Slurm's time limit")
    if "NODE_FAIL" in states or "BOOT_FAIL" in states:
        return FailureCause(Status.NODE_FAILURE, f"a node of {job} failed{_nodes(evidence)}")
    if "PREEMPTED" in states:
        return FailureCause(Status.NODE_FAILURE, f"{job} was preempted by one of higher priority")
    if "CANCELLED" in states:
        by = evidence.accounted.by if evidence.accounted else ""
        return FailureCause(Status.CANCELLED, f"{job} was cancelled{f' by user {by}' if by else ''}")
    if ended.exit_code is not None:
        return script_exit_cause(ended.exit_code, ended.limit_seconds)
    if not states:
        return FailureCause(Status.CRASH, f"Slurm no longer knows {job}, and it left no exit code: how it ended is unknown")
    if not ended.began:
        return FailureCause(Status.LAUNCH_FAILED, f"{job} did not start: {_reason(evidence)}")
    return FailureCause(Status.CRASH, f"the script of {job} was killed ({', '.join(sorted(states))}, {_reason(evidence)})")


def _states(evidence: Evidence) -> set[str]:
    """Of the job and its steps, from every source that has an answer. A step's COMPLETED says nothing of the job."""
    states = {evidence.details.get("JobState", "")}
    if evidence.queued:
        states.add(evidence.queued.state)
    if evidence.accounted:
        states.add(evidence.accounted.state)
        states |= {state.split()[0] for state, _ in evidence.accounted.steps.values() if state.startswith("OUT_OF_ME")}
    return states - {"", "RUNNING", "PENDING", "COMPLETING"}


def _codes(evidence: Evidence) -> Iterable[str]:
    if evidence.accounted:
        yield evidence.accounted.derived
        yield from (code for _, code in evidence.accounted.steps.values())
    yield evidence.details.get("DerivedExitCode", "")


def _nodes(evidence: Evidence) -> str:
    nodes = (evidence.accounted and evidence.accounted.nodes) or (evidence.queued and evidence.queued.nodes) or ""
    return f" ({nodes})" if nodes else ""


def _reason(evidence: Evidence) -> str:
    reason = evidence.queued.reason if evidence.queued else evidence.details.get("Reason", "")
    return reason if reason not in ("", "None") else "no reason given"


def reason_words(reason: str, wanted: str, partition: str) -> str:
    """Why a job waits, for people. `wanted`: what it requests."""
    where = f" in {partition}" if partition else ""
    known = {
        "Resources": f"waits for {wanted}",
        "Priority": f"waits behind other jobs{where}",
        "JobArrayTaskLimit": "waits for its array's limit of running tasks",
        "Dependency": "waits for another job",
        "BeginTime": "waits for its start time",
        "JobHeldUser": "is held by its user",
        "JobHeldAdmin": "is held by an administrator",
        "None": "waits for Slurm to consider it",
        "PartitionDown": f"waits for the partition {partition}, which is down",
        "PartitionInactive": f"waits for the partition {partition}, which is inactive",
    }
    if reason in known:
        return known[reason]
    if reason.startswith(("ReqNodeNotAvail", "Nodes required for job are DOWN")):
        return f"waits for {wanted}: nodes are down, drained or reserved"
    if reason.startswith(("QOS", "Assoc", "Max")):
        return f"waits for a limit of its account or QoS ({reason})"
    return f"waits ({reason})"
