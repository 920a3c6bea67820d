"""Tests whether a precision works on this machine, in a process that may die of it, and measures the machine's limit."""

from __future__ import annotations

from dataclasses import replace

from steptime.core.errors import Unsupported
from steptime.core.machine.contention import judge, sample
from steptime.core.machine.cpus import busy_threads, thread_seconds
from steptime.core.models import zoo
from steptime.core.schema import Job, ProbeResult
from steptime.core.worker.run_case import build_program, started_backend

TRIAL_MODEL = "mnist_cnn"
"""has a convolution and a matrix product, forward and backward: what an instruction set can fail at"""


def probed(job: Job) -> ProbeResult:
    """One real step of a small model, then the rate of a large matrix product (0 where the backend has no measure)."""
    case = replace(job.case, model=TRIAL_MODEL, model_options={}, batch=4, devices=1, nodes=1, data="synthetic")
    backend = started_backend(case)
    program = build_program(backend, zoo.build(case.model, {}), case)
    program.step()
    program.wait()
    begin, before = sample(), thread_seconds()
    try:
        peak = backend.peak_flops(case)
    except Unsupported:
        peak = 0.0
    busy = busy_threads(before, thread_seconds())
    verdict = judge(begin, sample(), 1, case.threads).verdict
    facts = backend.facts(case)
    return ProbeResult(
        backend=case.backend,
        precision=case.precision,
        device=case.device,
        threads=case.threads,
        ran_precision=facts.precision,
        peak_flops=peak,
        framework_version=facts.version,
        verdict=verdict,
        busy_threads=busy,
    )
