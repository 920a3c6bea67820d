"""`steptime show`: explain one record."""

from __future__ import annotations

import json
from typing import Any

import click

from steptime.cli.options import json_option, open_store, store_option
from steptime.cli.printing import fields, number, print_steps, share, size
from steptime.core.schema import (
    Allocation,
    Contention,
    Cost,
    Failure,
    Machine,
    Phase,
    Printed,
    Profile,
    Record,
    Resources,
    Software,
    Source,
    Staging,
    Steps,
    Summary,
    to_json,
)
from steptime.plan.repeat import repeat_command
from steptime.store.columns import COLUMNS, model_name
from steptime.store.lookup import find
from steptime.store.rows import full_row

MOST_ENTRIES = 5
Pairs = list[tuple[str, Any]]


@click.command("show")
@click.argument("name", metavar="ID|last", default="last")
@click.option("--full", is_flag=True, help="With --json: print the whole record.")
@click.option("--steps-table", is_flag=True, help="Print step lines like tf_cnn_benchmarks.")
@json_option
@store_option
def command(name: str, full: bool, steps_table: bool, as_json: bool, store_path: str | None) -> int:
    """Explain one record: what was measured, where, how precisely, and what disturbed it."""
    record = find(open_store(store_path), name)
    if as_json:
        print(to_json(record) if full else json.dumps(full_row(record)))
        return 0
    for title, pairs in sections(record):
        print(title)
        print("\n".join("  " + line for line in fields(pairs).splitlines()))
    if steps_table:
        print_steps(record)
    return 0


def sections(record: Record) -> list[tuple[str, Pairs]]:
    case = record.case
    batch = f"batch {case.batch}" if case.batch else ""
    head = ", ".join(filter(None, (model_name(case), case.phase, case.backend, case.precision, batch)))
    parts: list[tuple[str, Pairs | None]] = [
        (head, _case(record)),
        ("speed", _speed(record, record.summary, record.steps) if record.summary and record.steps else None),
        ("data", _data(record, record.staging) if record.staging else None),
        ("speed, as printed", _printed(record.printed, COLUMNS["unit"].of(record)) if record.printed else None),
        ("profile, time under a profiler", _profile(record.profile) if record.profile else None),
        ("imported from", _source(record, record.source) if record.source else None),
        ("cost", _cost(record.cost) if record.cost else None),
        ("resources", _resources(record.resources) if record.resources else None),
        ("contention", _contention(record.contention) if record.contention else None),
        ("software", _software(record.software) if record.software else None),
        ("machine", _machine(record.machine) if record.machine else None),
        ("job", _allocation(record.allocation) if record.allocation else None),
        ("failure", _failure(record.failure) if record.failure else None),
    ]
    return [(title, pairs) for title, pairs in parts if pairs and fields(pairs)]


def _case(record: Record) -> Pairs:
    case = record.case
    return [
        ("id", record.id),
        ("status", record.status),
        ("message", record.message),
        ("started", record.started),
        ("replicas", f"{case.replicas}, effective batch {case.effective_batch}" if case.replicas > 1 and case.batch else ""),
        ("threads", case.threads or ""),
        ("optimizer", case.optimizer if case.phase == Phase.TRAINING else ""),
        ("labels", " ".join(f"{k}={v}" for k, v in case.labels.items())),
        ("repeat it", "" if record.source else repeat_command(record)),
    ]


def _speed(record: Record, s: Summary, steps: Steps) -> Pairs:
    names = ("mean", "p50", "p90", "p95", "p99", "min", "max")
    milliseconds = " · ".join(f"{name} {1e3 * getattr(s, f'{name}_seconds'):.4g}" for name in names)
    counted = f"{len(steps.seconds)}, of which the first {steps.steady_start} are warm-up; stopped by {steps.stopped_by}"
    known = record.first_loss is not None and record.last_loss is not None
    return [
        ("mean speed", f"{s.mean_speed:.2f} samples/s, {s.ci_level:.0%} interval {s.ci_low:.2f} to {s.ci_high:.2f}"),
        ("uncertainty", f"{s.uncertainty:.3g}"),
        ("jitter", f"{s.jitter:.3g}"),
        ("ms per step", milliseconds),
        ("steps", counted),
        ("loss", f"{record.first_loss:.4g} to {record.last_loss:.4g}" if known else ""),
    ]


def _data(record: Record, s: Staging) -> Pairs:
    took = f"{size(s.bytes)} in {s.seconds:.3g} s" if s.copied else f"{size(s.bytes)}, there already"
    steps, share_ = record.steps, ""
    if steps and steps.data_seconds:
        spent, all_ = sum(steps.data_seconds[steps.steady_start :]), sum(steps.seconds[steps.steady_start :])
        count = len(steps.seconds) - steps.steady_start
        share_ = f"{1e3 * spent / count:.3g} ms, {share(spent / all_)} of the step"
    return [("set", record.case.data), ("staged to", f"{s.store}: {s.folder}"), ("staging", took), ("fetching a batch", share_)]


def _printed(p: Printed, unit: str) -> Pairs:
    names = ("mean", "p50", "p90", "p95", "p99", "min", "max")
    known = [(name, getattr(p, f"{name}_seconds")) for name in names]
    return [
        ("mean speed", "" if p.mean_speed is None else f"{p.mean_speed:.10g} {unit}"),
        ("uncertainty", p.uncertainty),
        ("jitter", p.jitter),
        ("ms per step", " · ".join(f"{name} {1e3 * value:.4g}" for name, value in known if value is not None)),
        ("steps", p.n),
        ("peak memory", size(p.peak_bytes)),
        *p.others.items(),
    ]


def _profile(p: Profile) -> Pairs:
    """The first few of each kind, by their own time."""
    kinds = dict.fromkeys(e.kind for e in p.entries)
    most = [(kind, [e for e in p.entries if e.kind == kind][:MOST_ENTRIES]) for kind in kinds]
    return [
        ("profiler", p.source),
        ("span", f"{p.span_seconds:.4g} s" + (f", {p.steps} steps" if p.steps else "")),
        ("device busy", share(p.device_busy_share)),
        *((kind, "".join(f"\n  {e.share:>4.0%}  {e.calls:>9,} x {e.name[:90]}" for e in entries)) for kind, entries in most),
    ]


def _source(record: Record, s: Source) -> Pairs:
    """The device by its one name, then the source's own words."""
    device = COLUMNS["device"].of(record)
    return [
        ("tool", s.tool),
        ("file", f"{s.file}, line {s.line}"),
        ("sha256", s.sha256),
        ("server", s.server),
        ("device", device if device == s.device else f"{device}, written {s.device}"),
        ("runtime", s.runtime),
        *((name.replace("_", " "), value) for name, value in s.settings.items()),
        ("notes", "; ".join(s.notes)),
        *((name, value) for name, value in s.raw.items() if value != s.settings.get(name.replace(" ", "_"))),
    ]


def _cost(c: Cost) -> Pairs:
    return [
        ("parameters", number(c.parameters)),
        ("FLOPs per step", f"{c.flops_per_step / 1e9:.4g} G" if c.flops_per_step else ""),
        ("achieved", f"{c.achieved_flops / 1e9:.4g} GFLOP/s" if c.achieved_flops else ""),
        ("measured limit", f"{c.peak_flops / 1e9:.4g} GFLOP/s" if c.peak_flops else "unknown"),
        ("share of limit", share(c.limit_share)),
    ]


def _resources(r: Resources) -> Pairs:
    return [
        ("peak memory", size(r.peak_bytes)),
        ("device memory", size(r.device_peak_bytes)),
        ("start-up", f"{r.startup_seconds:.2f} s (import {r.import_seconds:.2f}, build {r.build_seconds:.2f})"),
        ("first step", f"{1e3 * r.first_step_seconds:.4g} ms"),
        ("compilation", f"{r.compile_seconds:.2f} s" if r.compile_seconds is not None else ""),
        ("energy", f"{r.energy_joules:.4g} J" if r.energy_joules is not None else "unavailable"),
    ]


def _contention(q: Contention) -> Pairs:
    per_step = f"{1e3 * q.cpu_seconds_per_step:.4g} ms per step"
    return [
        ("verdict", f"{q.verdict}: {q.reason}"),
        ("CPU time", f"{q.cpu_seconds:.2f} s in {q.wall_seconds:.2f} s, {per_step}"),
        ("involuntary switches", q.involuntary_switches),
        ("CPU pressure", share(q.pressure_share)),
        ("steal", share(q.steal_share)),
        ("other processes", f"{q.foreign_cores:.2f} cores" if q.foreign_cores is not None else ""),
    ]


def _software(w: Software) -> Pairs:
    return [
        ("framework", f"{w.framework} {w.framework_version}" + (f", Python {w.python}" if w.python else "")),
        ("interpreter", w.interpreter),
        ("modules", " ".join(w.modules)),
        ("ran as", _ran_as(w)),
        *w.settings.items(),
        ("variables", " ".join(f"{k}={v}" for k, v in w.environment.items())),
    ]


def _ran_as(w: Software) -> str:
    if not w.precision:
        return ""
    busy = f" ({w.busy_threads} seen at work)" if w.busy_threads is not None else ""
    return f"{w.precision}, {w.threads} threads{busy}"


def _machine(m: Machine) -> Pairs:
    return [("host", m.host), ("CPU", f"{m.cpu}, {m.cores} cores"), ("memory", size(m.memory_bytes))]


def _allocation(a: Allocation) -> Pairs:
    devices = f"{a.gres}{f' (visible: {a.visible_devices})' if a.visible_devices else ''}" if a.gres else ""
    return [
        ("site", a.site),
        ("job", a.job),
        ("partition", a.partition),
        ("nodes", " ".join(a.nodes)),
        ("devices", devices),
        ("ran on", a.ran_on),
        ("queue", f"{a.queue_seconds:.0f} s" if a.queue_seconds is not None else ""),
    ]


def _failure(f: Failure) -> Pairs:
    return [("exit code", f.exit_code), ("signal", f.signal), ("log", "\n  " + f.log_tail if f.log_tail else "")]
