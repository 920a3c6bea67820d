"""`steptime machine`: describe this machine and what probes measured on it."""

from __future__ import annotations

import dataclasses
import json
import platform

import click

from steptime import __version__
from steptime.cli.options import json_option
from steptime.cli.printing import fields, size, table
from steptime.core.machine.describe import describe
from steptime.core.schema import Machine
from steptime.probe.findings import Finding, read_findings

HEADER = ("backend", "precision", "device", "threads", "limit GFLOP/s", "version", "needs", "because")


@click.command("machine")
@json_option
def command(as_json: bool) -> int:
    """Describe this machine's hardware and software, and what probes measured on it."""
    machine = describe()
    findings = list(read_findings(machine.id).findings.values())
    if as_json:
        content = dataclasses.asdict(machine)
        print(json.dumps({**content, "steptime": __version__, "findings": [dataclasses.asdict(f) for f in findings]}))
        return 0
    print(description(machine))
    if findings:
        print("\n" + table(HEADER, [_cells(finding) for finding in _best(findings)]))
    return 0


def description(machine: Machine) -> str:
    accelerators = ", ".join(f"{a.name} {size(a.memory_bytes)}" for a in machine.accelerators)
    sockets = "1 socket" if machine.sockets == 1 else f"{machine.sockets} sockets"
    return fields(
        [
            ("id", machine.id),
            ("host", machine.host),
            ("CPU", f"{machine.cpu}, {sockets}, {machine.cores} cores, {machine.logical_cpus} logical"),
            ("usable CPUs", f"{machine.usable_cpus:g}"),
            ("vector sets", " ".join(machine.cpu_flags)),
            ("memory", f"{size(machine.memory_bytes)}, usable {size(machine.usable_memory_bytes)}"),
            ("accelerators", accelerators or "none"),
            ("virtualised", machine.virtualised or "no sign of it"),
            ("system", f"{machine.os}, kernel {machine.kernel}, {machine.architecture}"),
            ("software", f"steptime {__version__}, Python {platform.python_version()}"),
        ]
    )


def _best(findings: list[Finding]) -> list[Finding]:
    """One line per backend, precision, device and threads: phases share a limit."""
    best: dict[tuple[str, str, str, int], Finding] = {}
    for finding in sorted(findings, key=lambda f: f.peak_flops):
        best[finding.backend, finding.precision, finding.device, finding.threads] = finding
    return sorted(best.values(), key=lambda f: (f.backend, f.device, f.threads, -f.peak_flops))


def _cells(f: Finding) -> list[str]:
    limit = f"{f.peak_flops / 1e9:.4g}" if f.peak_flops else ""
    needs = " ".join(f"{key}={value}" for key, value in f.environment.items())
    return [f.backend, f.precision, f.device, str(f.threads), limit, f.framework_version, needs, f.note]
