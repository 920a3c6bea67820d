"""A tiny job that checks a site's directories on a node: whether they exist, how much space they have, how fast they are."""

from __future__ import annotations

import shlex
from dataclasses import replace

from steptime.schedulers.request import Request
from steptime.schedulers.scheduler import ScriptDialect
from steptime.schedulers.script import comment, expandable, shell_line
from steptime.schedulers.site import Site

SAMPLE_MIB = 64
LIMIT_MINUTES = "5"
RESULT = "directories.txt"
SEPARATOR = "|"


def directories_text(site: Site, request: Request, folder: str, dialect: ScriptDialect) -> str:
    """A line per directory in directories.txt: name|problem|free kB|seconds to write the sample|path."""
    small = replace(request, nodes=1, threads=1, time=LIMIT_MINUTES, memory="")
    lines = [
        shell_line(site),
        *dialect.directives(site, small, "steptime-directories", 0),
        comment(f"Which directories a node for {request.device} has, for `steptime sites check {site.name}`."),
        f"folder={shlex.quote(folder)}",
        "look() {  # name, path",
        "  problem= free= seconds=",
        '  if [ -z "$2" ]; then problem="its variable is not set"',
        '  elif [ ! -d "$2" ]; then problem="no such directory"',
        '  elif ! sample=$(mktemp -- "$2/steptime.XXXXXX" 2> /dev/null); then problem="not writable"',
        "  else",
        '    free=$(df --output=avail -- "$2" | tail -n 1)',
        "    begin=$(date +%s.%N)",
        f'    dd if=/dev/zero of="$sample" bs=1M count={SAMPLE_MIB} conv=fsync 2> /dev/null || problem="cannot write to it"',
        "    seconds=$(echo \"$begin $(date +%s.%N)\" | awk '{print $2 - $1}')",
        '    rm -f -- "$sample"',
        "  fi",
        f'  printf \'%s{SEPARATOR}%s{SEPARATOR}%s{SEPARATOR}%s{SEPARATOR}%s\\n\' "$1" "$problem" "$free" "$seconds" "$2"',
        "}",
        "{",
        *(f"  look {name} {expandable(path)}" for name, path in site.directories.items()),
        f'}} > "$folder/{RESULT}.part"',
        f'mv "$folder/{RESULT}.part" "$folder/{RESULT}"',
    ]
    return "\n".join(lines) + "\n"


def parse_directories(text: str) -> list[tuple[str, str, str]]:
    """(name, problem, description) of each line."""
    findings = []
    for line in text.splitlines():
        parts = line.split(SEPARATOR, 4)
        if len(parts) == 5:
            name, problem, free, seconds, path = parts
            findings.append((name, f"{problem}: {path}" if problem and path else problem, _seen(path, free, seconds)))
    return findings


def _seen(path: str, free: str, seconds: str) -> str:
    try:
        return f"{path}, {int(free) * 1024 / 1e9:.3g} GB free, writes {SAMPLE_MIB * 1.048576 / float(seconds):.0f} MB/s"
    except (ValueError, ZeroDivisionError):
        return path
