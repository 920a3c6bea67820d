"""`steptime show`: explain one record."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import click

from steptime.cli.options import json_option, open_store, store_option
from steptime.cli.printing import fields, number, print_steps, share, size, with_unit
from steptime.core.schema import (
    Allocation,
    Contention,
    Cost,
    Failure,
    GpuUse,
    Machine,
    Printed,
    Profile,
    Record,
    Resources,
    Software,
    Source,
    Staging,
    Status,
    Steps,
    Summary,
    to_json,
)
from steptime.plan.repeat import repeat_command
from steptime.store.columns import COLUMNS, TABLE, Column, full_row
from steptime.store.lookup import find

MOST_ENTRIES = 5
IN_TITLE = ("model", "phase", "backend", "precision")
IN_OTHER_LINES = ("throughput", "ci_low", "ci_high", "verdict", "software", "unit", "staging_seconds")
"""columns that a line below explains together with what no column has"""
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
    """Every column that has a value, beside what the parts of the record say that no column has."""
    figures = record.summary or record.printed
    title = ", ".join(str(COLUMNS[name].of(record)) for name in IN_TITLE if COLUMNS[name].of(record))
    batch = f", batch {record.case.batch}" if record.case.batch else ""
    repeat = [("repeat it", "" if record.source else repeat_command(record))]
    parts: list[tuple[str, str, Pairs]] = [
        (title + batch, "", []),
        ("configuration", "configuration", repeat),
        ("speed, as printed" if record.printed else "speed", "summary", _speed(record, figures) if figures else []),
        ("data", "staging", _data(record, record.staging) if record.staging else []),
        ("profile, time under a profiler", "profile", _profile(record.profile) if record.profile else []),
        ("imported from", "source", _source(record, record.source) if record.source else []),
        ("cost", "cost", _cost(record.cost) if record.cost else []),
        ("resources", "resources", _resources(record.resources) if record.resources else []),
        ("contention", "contention", _contention(record.contention) if record.contention else []),
        ("software", "software", _software(record.software) if record.software else []),
        ("hardware", "hardware", _machine(record.machine) if record.machine else []),
        ("job", "allocation", _allocation(record.allocation) if record.allocation else []),
        ("failure", "failure", _failure(record.failure) if record.failure else []),
    ]
    described = [(title, [*others, *_columns(record, section)]) for title, section, others in parts]
    return [(title, pairs) for title, pairs in described if fields(pairs)]


def _columns(record: Record, section: str) -> Pairs:
    """A line for each column of the section."""
    return [
        (column.label, with_unit(_value(column, record), column, COLUMNS["unit"].of(record)))
        for column in TABLE
        if _section(column) == section and column.name not in (*IN_TITLE, *IN_OTHER_LINES)
    ]


def _section(column: Column) -> str:
    """A column of the run belongs to the part of the record that has its field."""
    return column.section or str(column.read).rpartition(".")[0]


def _value(column: Column, record: Record) -> Any:
    """With the figures of a wrong result, which rows do not have."""
    return column.of(replace(record, status=Status.OK) if column.measured else record)


def _speed(record: Record, figures: Summary | Printed) -> Pairs:
    return [
        ("mean speed", _mean_speed(figures, COLUMNS["unit"].of(record))),
        ("fastest step", _milliseconds(figures.min_seconds)),
        ("slowest step", _milliseconds(figures.max_seconds)),
        ("steps", _steps(record.steps) if record.steps else figures.n),
        ("loss", "" if None in (record.first_loss, record.last_loss) else f"{record.first_loss:.4g} to {record.last_loss:.4g}"),
        *(record.printed.others.items() if record.printed else ()),
    ]


def _mean_speed(figures: Summary | Printed, unit: str) -> str:
    if isinstance(figures, Printed):
        return "" if figures.mean_speed is None else f"{figures.mean_speed:.10g} {unit}"
    interval = f"{figures.ci_level:.0%} interval {figures.ci_low:.2f} to {figures.ci_high:.2f}"
    return f"{figures.mean_speed:.2f} {unit}, {interval}"


def _milliseconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{1e3 * seconds:.4g} ms"


def _steps(steps: Steps) -> str:
    return f"{len(steps.seconds)}, of which the first {steps.steady_start} are warm-up; stopped by {steps.stopped_by}"


def _data(record: Record, s: Staging) -> Pairs:
    took = f"{size(s.bytes)} in {s.seconds:.3g} s" if s.copied else f"{size(s.bytes)}, there already"
    steps, share_ = record.steps, ""
    if steps and steps.data_seconds:
        spent, all_ = sum(steps.data_seconds[steps.steady_start :]), sum(steps.seconds[steps.steady_start :])
        count = len(steps.seconds) - steps.steady_start
        share_ = f"{1e3 * spent / count:.3g} ms, {share(spent / all_)} of the step"
    return [("set", record.case.data), ("staged to", f"{s.store}: {s.folder}"), ("staging", took), ("fetching a batch", share_)]


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
    """The file, and its own words."""
    return [
        ("tool", s.tool),
        ("file", f"{s.file}, line {s.line}"),
        ("sha256", s.sha256),
        ("device", s.device if s.device != COLUMNS["device"].of(record) else ""),
        ("notes", "; ".join(s.notes)),
        *((name, value) for name, value in s.raw.items() if value != s.settings.get(name.replace(" ", "_"))),
    ]


def _cost(c: Cost) -> Pairs:
    return [
        ("parameters", number(c.parameters)),
        ("FLOPs per step", f"{c.flops_per_step / 1e9:.4g} G" if c.flops_per_step else ""),
        ("achieved", f"{c.achieved_flops / 1e9:.4g} GFLOP/s" if c.achieved_flops else ""),
        ("measured limit", f"{c.peak_flops / 1e9:.4g} GFLOP/s" if c.peak_flops else "unknown"),
    ]


def _resources(r: Resources) -> Pairs:
    return [
        ("device memory", size(r.device_peak_bytes)),
        ("device memory reserved", size(r.device_reserved_bytes)),
        ("start-up", f"{r.startup_seconds:.2f} s (import {r.import_seconds:.2f}, build {r.build_seconds:.2f})"),
        ("first step", _milliseconds(r.first_step_seconds)),
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
        *(_gpu(q.gpu) if q.gpu else ()),
    ]


def _gpu(g: GpuUse) -> Pairs:
    """The card that the steps ran on; lines of which its driver reports nothing are left out."""
    lowered = ", ".join(f"{cause} {share(part)}" for cause, part in g.throttled.items() if part)
    errors = f", uncorrected errors: {g.ecc_errors}" if g.ecc_errors else ""
    return [
        ("GPU", f"{g.name}, driver {g.driver}" if g.driver else g.name),
        ("GPU clock", _of(g.sm_mhz, g.most_sm_mhz, "MHz") + (f", at least {g.least_sm_mhz:.0f}" if g.least_sm_mhz else "")),
        ("GPU clock lowered", lowered or ("never" if g.throttled else "")),
        ("GPU power", _of(g.watts, g.watts_limit, "W")),
        ("GPU energy", f"{g.joules:.4g} J" if g.joules is not None else ""),
        ("GPU temperature", f"{g.celsius:.0f} °C" if g.celsius is not None else ""),
        ("GPU memory in use", size(g.memory_used_bytes)),
        ("GPU ECC", "" if g.ecc is None else f"{'on' if g.ecc else 'off'}{errors}"),
        ("PCIe generation", _of(g.pcie_generation, g.most_pcie_generation, "")),
        ("PCIe lanes", _of(g.pcie_width, g.most_pcie_width, "")),
        ("others on the GPU", _others(g)),
    ]


def _of(value: float | None, most: float | None, unit: str) -> str:
    limit = f" of {most:.0f}" if most is not None else ""
    return "" if value is None else f"{value:.0f}{limit} {unit}".rstrip()


def _others(g: GpuUse) -> str:
    busy = f", at work {share(g.foreign_share)} of the time" if g.foreign_share is not None else ""
    return "" if g.other_processes is None else f"{g.other_processes}{busy}"


def _software(w: Software) -> Pairs:
    return [
        ("Python", w.python),
        ("interpreter", w.interpreter),
        ("modules", " ".join(w.modules)),
        ("ran as", _ran_as(w)),
        *((name, value) for name, value in w.settings.items() if name not in COLUMNS),
        ("variables", " ".join(f"{k}={v}" for k, v in w.environment.items())),
    ]


def _ran_as(w: Software) -> str:
    if not w.precision:
        return ""
    busy = f" ({w.busy_threads} seen at work)" if w.busy_threads is not None else ""
    return f"{w.precision}, {w.threads} threads{busy}"


def _machine(m: Machine) -> Pairs:
    return [("CPU", f"{m.cpu}, {m.cores} cores"), ("memory", size(m.memory_bytes))]


def _allocation(a: Allocation) -> Pairs:
    devices = f"{a.gres}{f' (visible: {a.visible_devices})' if a.visible_devices else ''}" if a.gres else ""
    return [
        ("site", a.site),
        ("nodes", " ".join(a.nodes)),
        ("devices", devices),
        ("ran on", a.ran_on),
    ]


def _failure(f: Failure) -> Pairs:
    return [("exit code", f.exit_code), ("signal", f.signal), ("log", "\n  " + f.log_tail if f.log_tail else "")]
