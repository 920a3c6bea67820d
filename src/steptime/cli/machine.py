"""`steptime machine`: what this machine is, and what was found out about it."""

from __future__ import annotations

import json

import click

from steptime.cli.options import json_option


@click.command("machine")
@json_option
def command(as_json: bool) -> int:
    """Describe hardware and software, and what probes have found out here."""
    import dataclasses
    import platform

    from steptime import __version__
    from steptime.cli.printing import fields, size, table
    from steptime.machine.describe import describe
    from steptime.probe.memory import recall

    machine = describe()
    findings = list(recall(machine.id).findings.values())
    if as_json:
        content = dataclasses.asdict(machine)
        print(json.dumps({**content, "steptime": __version__, "findings": [dataclasses.asdict(f) for f in findings]}))
        return 0
    accelerators = ", ".join(f"{a.name} {size(a.memory_bytes)}" for a in machine.accelerators)
    pairs = [
        ("id", machine.id),
        ("host", machine.host),
        ("CPU", f"{machine.cpu}, {machine.sockets} sockets, {machine.cores} cores, {machine.logical_cpus} logical"),
        ("usable CPUs", f"{machine.usable_cpus:g}"),
        ("vector sets", " ".join(machine.cpu_flags)),
        ("memory", f"{size(machine.memory_bytes)}, usable {size(machine.usable_memory_bytes)}"),
        ("accelerators", accelerators or "none"),
        ("virtualised", machine.virtualised or "no sign of it"),
        ("system", f"{machine.os}, kernel {machine.kernel}, {machine.architecture}"),
        ("software", f"steptime {__version__}, Python {platform.python_version()}"),
    ]
    print(fields(pairs))
    if findings:
        header = ("backend", "precision", "device", "threads", "limit GFLOP/s", "version", "needs", "because")
        rows = [
            [
                f.backend,
                f.precision,
                f.device,
                str(f.threads),
                f"{f.peak_flops / 1e9:.4g}" if f.peak_flops else "",
                f.framework_version,
                " ".join(f"{k}={v}" for k, v in f.environment.items()),
                f.note,
            ]
            for f in findings
        ]
        print("\n" + table(header, rows))
    return 0
