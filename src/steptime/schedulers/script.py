"""Makes the text of a batch script: pure, readable, and safe for any path."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from steptime.core.worker.deliver import LAUNCH_FAILED
from steptime.schedulers.request import Request, request_words
from steptime.schedulers.scheduler import JobVariables, ScriptDialect
from steptime.schedulers.site import Framework, Site

VARIABLE = re.compile(r"\$(?:[A-Za-z_][A-Za-z0-9_]*|\{[A-Za-z_][A-Za-z0-9_]*\})")
KILL_SECONDS = 30
MASTER_PORTS = (20000, 12000)
"""the first port for the rendezvous of ranks, and how many there are; Linux itself assigns those from 32768 on"""


@dataclass(frozen=True)
class Task:
    """One case of a script."""

    folder: str
    """relative to the sweep's folder"""
    words: str


@dataclass(frozen=True)
class Script:
    site: Site
    request: Request
    tasks: Sequence[Task]
    sweep_folder: str
    """absolute"""
    array: bool
    python: str
    """overrides the site's interpreter; empty: the site's"""


def expandable(text: str) -> str:
    """A shell word in which $VARIABLES are expanded and nothing else is."""
    parts, at = [], 0
    for variable in VARIABLE.finditer(text):
        parts += [text[at : variable.start()], variable.group()]
        at = variable.end()
    parts.append(text[at:])
    return "".join(f'"{part}"' if i % 2 else shlex.quote(part) for i, part in enumerate(parts) if part) or "''"


def comment(text: str) -> str:
    """One line, whatever it holds."""
    return "# " + "".join(letter if letter.isprintable() else " " for letter in text)


def script_text(script: Script, dialect: ScriptDialect) -> str:
    sections = [
        _head(script, dialect),
        _place(script, dialect.variables),
        _allocation(script, dialect),
        _environment(script),
        _data_store(script),
        _run(script, dialect),
    ]
    return "\n".join("\n".join(lines) + "\n" for lines in sections if lines)


def job_name(script: Script) -> str:
    """The job's name when a person submits the script."""
    return f"steptime-{re.sub(r'[^A-Za-z0-9_.-]', '_', script.tasks[0].folder)[:40]}"


def _head(script: Script, dialect: ScriptDialect) -> list[str]:
    request, site = script.request, script.site
    what = script.tasks[0].words if len(script.tasks) == 1 else f"{len(script.tasks)} cases, one to a task"
    again = f"Edit it if you like, and submit it again: {dialect.submit_command} script.sh"
    return [
        shell_line(site),
        *dialect.directives(site, request, job_name(script), len(script.tasks) if script.array else 0),
        comment(f"{what}; on {request_words(request)}"),
        comment(f"Written by steptime for the site {site.name}. {again}"),
        "# Each submission leaves a record of its own in the store, and its log here.",
    ]


def shell_line(site: Site) -> str:
    return "#!/bin/bash -l" if site.login_shell else "#!/bin/bash"


def _place(script: Script, variables: JobVariables) -> list[str]:
    """Which case this is, and where. `folder` holds job.json and the worker; each attempt at the case has a folder in it."""
    array, task, job = f"${{{variables.array_id}}}", f"${variables.task}", f"${variables.job_id}"
    moved = f"sweep=${variables.submit_folder}/..  # the store was moved: submit from this folder"
    lines = [f"sweep={shlex.quote(script.sweep_folder)}", f'[ -d "$sweep" ] || {moved}']
    if script.array:
        lines += ["cases=(", *(f"  {shlex.quote(task.folder)}" for task in script.tasks), ")"]
        lines += [f"name=${{cases[{task}]}}", f"job={array}_{task}"]
    else:
        lines += [f"name={shlex.quote(script.tasks[0].folder)}", f"job={job}"]
    submitted = f"${{{variables.array_id}:-{job}}}"
    return [
        *lines,
        "folder=$sweep/$name",
        "try=$folder/try-$job",
        "",
        "# steptime's own submissions are known by their names: this one was accepted, unless it has been given up meanwhile.",
        f"submission=$sweep/submissions/${variables.job_name}",
        'if [ -e "$submission.abandoned" ]; then echo "steptime: this submission was given up"; exit 0; fi',
        'if [ -e "$submission.json" ]; then',
        f'  echo "{submitted}" > "$submission.job.$job" && mv "$submission.job.$job" "$submission.job"',
        "fi",
        'mkdir -p "$try" && cp "$folder/job.json" "$try/job.json" || exit 1',
        "",
        "# How it ends is written down, whatever happens.",
        """trap 'code=$?; echo "$code" > "$try/exit.part" && mv "$try/exit.part" "$try/exit"' EXIT""",
    ]


ON_FAILURE = [
    "environment_failed() {  # number of the line, exit code",
    """  trap - ERR; line=$(sed --quiet "$1p" "$0"); reason=""",
    """  [[ $line != *"checked "* ]] || reason=" ($(head --lines=3 "$try/module.err" | paste --serial --delimiters=" "))\"""",
    f"""  echo "the environment failed with exit code $2 at: ${{line//checked /}}$reason" | tee "$try/{LAUNCH_FAILED}" >&2""",
    "  for python in python3 python; do",
    '    "$python" "$folder/steptime-worker.pyz" --deliver "$try" "$sweep/../.." 2> /dev/null && break',
    "  done",
    '  exit "$2"',
    "}",
    """trap 'code=$?; [ "${#BASH_SOURCE[@]}" -gt 1 ] || environment_failed "$LINENO" "$code"' ERR""",
]
"""commands within a sourced file may fail: its last one counts"""
CHECKED = [
    "checked() {  # for `module`: older versions print an error and return 0",
    '  local code=0; "$@" 2> "$try/module.err" || code=$?',
    '  cat "$try/module.err" >&2',
    """  if [ "$code" = 0 ] && grep --extended-regexp --quiet '(^|[[:space:]:])ERROR:' "$try/module.err"; then code=1; fi""",
    '  return "$code"',
    "}",
]
MODULE = re.compile(r"(^\s*|[;&|(]\s*|\b(?:then|do|else)\s+)(?=(?:module|ml)\s+[^\s(])")
"""where a line calls the module system"""
QUOTED = re.compile(r"""'[^']*'|"(?:[^"\\]|\\.)*\"""")
OTHER_FORM = re.compile(r"""[;|<>()`\\'"#]|(?<!&)&(?!&)""")
CONDITIONS = ("[", "[[", "!", "{", "test", "if", "while", "until", "for", "case", "command", "type", "which", "hash", "grep")
"""words with which a command begins that may well fail: [ -e FILE ] && source FILE"""


def _environment(script: Script) -> list[str]:
    """A line that fails ends the job, or another framework on the PATH would be measured in the place of the one asked for."""
    site, backend = script.site, script.request.backend
    own = site.backends.get(backend)
    lines = [f"export {name}={expandable(value)}" for name, value in site.environment.items()]
    if own:
        lines += [f"module load {shlex.quote(module)}" for module in own.modules]
        lines += _conda(own)
        lines += [command for line in own.lines for command in commands(line)]
    checked = [MODULE.sub(r"\1checked ", line) for line in lines]
    configured = "as the site configures it" if own else "not configured by the site"
    return [
        f"# {backend}, {configured}. A line that fails ends the job with `launch_failed`: append `|| true` to one that may fail.",
        *ON_FAILURE,
        *(CHECKED if checked != lines else []),
        *checked,
        f'python={_python(own, script.python)}; type "$python" > /dev/null',
        "trap - ERR",
    ]


def commands(line: str) -> list[str]:
    """Those of `A && B`, one to a line, since bash takes a failing A for a condition; a line of any other form as it is."""
    masked = QUOTED.sub(lambda quoted: "_" * len(quoted.group()), line)
    parts, at = [], 0
    for part in masked.split("&&"):
        parts.append(line[at : at + len(part)].strip())
        at += len(part) + len("&&")
    if OTHER_FORM.search(masked) or any(not part or part.split()[0] in CONDITIONS for part in parts[:-1]) or not parts[-1]:
        return [line]
    return parts


def _conda(own: Framework) -> list[str]:
    """An environment without an interpreter would leave another one first on the PATH."""
    if not own.conda:
        return []
    env = expandable(own.conda)
    lines = [
        f'if [ -x {env}/bin/python ]; then export PATH={env}/bin:"$PATH" CONDA_PREFIX={env}',
        f'else eval "$(conda shell.bash hook)" && conda activate {env}; fi',
    ]
    return lines if own.python else [*lines, f'[ -x "$CONDA_PREFIX/bin/python" ]  # conda environment {comment(own.conda)[2:]}']


def _python(own: Framework | None, chosen: str) -> str:
    if chosen or not own:
        return shlex.quote(chosen)
    return expandable(own.python or "python")


def _allocation(script: Script, dialect: ScriptDialect) -> list[str]:
    """What the record says of the job."""
    request, site = script.request, script.site
    first, count = MASTER_PORTS
    lines = [
        "# What the job was given, for the record.",
        f"export STEPTIME_SITE={shlex.quote(site.name)} STEPTIME_JOB=$job STEPTIME_GRES={shlex.quote(request.gres)}",
        *dialect.allocation(),
    ]
    if request.processes > 1:
        port = f"$(({first} + {dialect.variables.job_id} % {count}))"
        lines += [f"export MASTER_ADDR=${{STEPTIME_NODES%%,*}} MASTER_PORT={port}"]
    return lines


def _data_store(script: Script) -> list[str]:
    request, site = script.request, script.site
    if not request.store:
        return []
    return [
        "# Where the data are staged: a worker finds a store by the variable of its name.",
        f"export {request.store.upper().replace('-', '_')}={expandable(site.directories[request.store])}",
    ]


def _run(script: Script, dialect: ScriptDialect) -> list[str]:
    request = script.request
    limit = f"timeout --kill-after={KILL_SECONDS} {request.limit_seconds:g}"
    return [
        comment(f"The worker, for at most {request.limit_seconds:g} s; then its record goes into the store."),
        'cd "$try" || exit 1',
        f'{limit} {_launcher(script, dialect)}"$python" "$folder/steptime-worker.pyz" "$try"',
        "code=$?",
        '"$python" "$folder/steptime-worker.pyz" --deliver "$try" "$sweep/../.."',
        "exit $code",
    ]


OMPI_RANKS = {"RANK": "RANK", "LOCAL_RANK": "LOCAL_RANK", "WORLD_SIZE": "SIZE"}
RANKS = "bash -c '" + " ".join(f"{ours}=$OMPI_COMM_WORLD_{theirs}" for ours, theirs in OMPI_RANKS.items()) + ' exec "$@"\' bash '


def _launcher(script: Script, dialect: ScriptDialect) -> str:
    request, site = script.request, script.site
    if request.processes == 1 and not site.launch_single:
        return ""
    if site.launcher == "mpirun":
        return f"mpirun -np {request.processes} --map-by ppr:{request.devices}:node {RANKS}"
    return dialect.launcher(request)
