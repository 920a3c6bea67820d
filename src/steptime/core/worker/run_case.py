"""Runs one case, from its description to its record."""

from __future__ import annotations

import math
import os
import platform
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Optional

from steptime import __version__
from steptime.core.backends.base import Backend, Facts, Program, check_options, find
from steptime.core.data.places import SYNTHETIC
from steptime.core.machine.contention import judge
from steptime.core.machine.cpus import affinity, busy_threads, thread_seconds
from steptime.core.machine.describe import describe
from steptime.core.machine.gpu import GpuWatch, gpu_watch
from steptime.core.machine.memory import peak_rss_bytes
from steptime.core.models import zoo
from steptime.core.models.graph import Graph
from steptime.core.models.weights import batch_of, initial_weights
from steptime.core.schema import Case, Contention, Cost, Job, Record, Resources, Software, Status, Steps, Verdict, timestamp
from steptime.core.stats.invariants import broken_invariant
from steptime.core.stats.summary import RULE, steady_start, summarise
from steptime.core.worker.events import Events
from steptime.core.worker.feed import Fed, Source, source_of
from steptime.core.worker.limits import BYTES, guard_memory, refuse_hopeless
from steptime.core.worker.loop import Agree, Run, _alone, run_steps
from steptime.core.worker.rank_agreement import agreed_record
from steptime.core.worker.ranks import Rendezvous, join

REPORT_SECONDS = 0.25
REPORT_STEPS = 2000
"""live figures cover the last steps only: they must cost nothing, and the record has the exact ones"""


def run_case(job: Job, events: Events, started: float, rendezvous: Optional[Rendezvous] = None) -> Record:
    """The record of a case that ran. Failures are exceptions, which the caller records."""
    case, began = executed(job), time.perf_counter()
    events.send("phase", name="import")
    graph = zoo.build(case.model, case.model_options)
    backend = started_backend(case)
    number = join(backend, case, rendezvous)
    imported = time.perf_counter()
    events.send("phase", name="build" if case.data == SYNTHETIC else "stage")
    with source_of(graph, case, number) as source:
        staged = time.perf_counter()
        program = build_program(backend, graph, case, source, number)
        timing = _Timing(began, imported, staged, time.perf_counter(), time.time() - started)
        events.send("phase", name="measure")
        reporter = _Reporter(events, case)
        watch = gpu_watch(case.device, rendezvous.rank.local if rendezvous else 0)
        run = run_steps(program, case.budget, reporter, _agreement(rendezvous), watch)
        busy = busy_threads(reporter.threads_before, thread_seconds())
        record = _record(job, graph, backend, program, run, watch, busy, timing, events, source, started)
        if rendezvous is None:
            return record
        return agreed_record(record, run, program, graph, rendezvous, judges_contention=not backend.verdict(case))


def _agreement(rendezvous: Optional[Rendezvous]) -> Agree:
    """The times of a block are those of the rank that was slowest in it."""
    if rendezvous is None:
        return _alone
    rendezvous.gather(0)  # so that no rank's first step waits for another's start
    return lambda seconds: list(max(rendezvous.gather(seconds), key=sum))


@dataclass(frozen=True)
class _Timing:
    """Moments before the first step, and how long the process had run when all was built."""

    began: float
    imported: float
    staged: float
    built: float
    startup_seconds: float


def _record(
    job: Job,
    graph: Graph,
    backend: Backend,
    program: Program,
    run: Run,
    watch: Optional[GpuWatch],
    busy: Optional[int],
    timing: _Timing,
    events: Events,
    source: Optional[Source],
    started: float,
) -> Record:
    case = executed(job)
    facts = backend.facts(case)
    start = steady_start(run.seconds)
    summary = summarise(run.seconds[start:], case.effective_batch)
    compiles = facts.settings.get("compile", "eager") != "eager"
    resources = Resources(
        peak_bytes=max(peak_rss_bytes(), events.peak_tree_bytes),
        device_peak_bytes=program.device_peak_bytes(),
        startup_seconds=timing.startup_seconds,
        import_seconds=timing.imported - timing.began,
        build_seconds=timing.built - timing.staged,
        first_step_seconds=run.seconds[0],
        compile_seconds=max(0.0, run.seconds[0] - summary.p50_seconds) if compiles else None,
        device_reserved_bytes=program.device_reserved_bytes(),
    )
    fetching = program.data_seconds.tolist() if isinstance(program, Fed) else []
    assert run.stopped_by
    record = Record(
        id=job.id,
        status=Status.OK,
        case=job.case,
        started=timestamp(started),
        sweep=job.sweep,
        steps=Steps(run.seconds, start, RULE, run.stopped_by, run.loss_steps, _finite(run.losses), fetching),
        summary=summary,
        cost=cost_of(graph, case, summary.mean_seconds, job.peak_flops),
        contention=_contention(run, start, case, watch, backend.verdict(case)),
        resources=resources,
        software=_software(facts, job.environment, busy),
        machine=describe(),
        staging=source.staging if source else None,
    )
    return _judged(record, run)


def executed(job: Job) -> Case:
    """The case as the framework sees it: with a plain device instead of a site's device type."""
    return replace(job.case, device=job.device) if job.device else job.case


def _software(facts: Facts, environment: dict[str, str], busy: Optional[int]) -> Software:
    return Software(
        python=platform.python_version(),
        interpreter=sys.executable,
        framework=facts.framework,
        framework_version=facts.version,
        steptime=__version__,
        packages=facts.packages,
        environment=environment,
        threads=facts.threads,
        busy_threads=busy,
        precision=facts.precision,
        affinity=affinity(),
        settings=facts.settings,
        modules=[name for name in os.environ.get("LOADEDMODULES", "").split(":") if name],
    )


def build_program(backend: Backend, graph: Graph, case: Case, source: Optional[Source] = None, rank: int = 0) -> Program:
    """With a source, every step gets a new batch; else all compute the same synthetic one."""
    refuse_hopeless(graph, case)
    guard_memory(case)
    inputs, labels = batch_of(graph, case.batch, case.seed, rank)
    program = backend.build(graph, case, initial_weights(graph, case.seed), inputs, labels)
    return Fed(program, source.batches) if source else program


def started_backend(case: Case) -> Backend:
    """The framework is imported, and can run the case."""
    backend = find(case.backend)
    check_options(backend, case.backend_options)
    backend.start(case)
    backend.check(case)
    return backend


def cost_of(graph: Graph, case: Case, step_seconds: float, peak_flops: Optional[float]) -> Cost:
    flops = float(graph.flops(case.phase) * case.effective_batch)
    achieved = flops / step_seconds
    return Cost(
        parameters=graph.parameter_count,
        parameter_bytes=graph.parameter_count * BYTES[case.precision],
        activation_bytes=graph.activation_elements * case.batch * BYTES[case.precision],
        flops_per_step=flops,
        achieved_flops=achieved,
        peak_flops=peak_flops,
        limit_share=achieved / peak_flops if peak_flops else None,
    )


def _contention(run: Run, start: int, case: Case, watch: Optional[GpuWatch], verdict: Optional[Verdict]) -> Contention:
    """Over the blocks of the steady part. A backend that gives its own verdict beats the counters."""
    (begin_steps, begin), (end_steps, end) = run.steady_samples(start)
    gpu = watch.use(run.gpu_samples(start)) if watch else None
    counted = judge(begin, end, end_steps - begin_steps, case.threads, gpu)
    return replace(counted, verdict=verdict, reason="this backend says so") if verdict else counted


def _finite(losses: Sequence[float]) -> list[Optional[float]]:
    return [loss if math.isfinite(loss) else None for loss in losses]


def _judged(record: Record, run: Run) -> Record:
    """The record with its losses; `wrong_result` if a loss is not a number or an invariant does not hold."""
    for step, loss in zip(run.loss_steps, run.losses):
        if not math.isfinite(loss):
            return replace(record, status=Status.WRONG_RESULT, message=f"the loss is {loss} after step {step}")
    if run.losses:
        record = replace(record, first_loss=run.losses[0], last_loss=run.losses[-1])
    broken = broken_invariant(record)
    return replace(record, status=Status.WRONG_RESULT, message=broken) if broken else record


class _Reporter:
    """Sends the live speed a few times a second."""

    def __init__(self, events: Events, case: Case) -> None:
        self._events, self._case = events, case
        self._last = 0.0
        self._began = time.monotonic()
        self.threads_before: dict[int, float] = {}
        """CPU seconds of each after the first step, which may compile with any number of threads"""

    def __call__(self, seconds: Sequence[float]) -> None:
        now = time.monotonic()
        self.threads_before = self.threads_before or thread_seconds()
        if now - self._last < REPORT_SECONDS or len(seconds) < 2:
            return
        self._last = now
        recent = summarise(seconds[max(1, len(seconds) - REPORT_STEPS) :], self._case.effective_batch)
        budget = self._case.budget
        done = max((now - self._began) / budget.max_seconds, len(seconds) / budget.max_steps)
        self._events.send(
            "progress",
            step=len(seconds),
            done=min(done, 1.0),
            mean_speed=recent.mean_speed,
            uncertainty=recent.uncertainty,
            jitter=recent.jitter,
        )
