"""From what is asked of a site to the text of a batch script: pure, readable, and safe for any path."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from steptime.schedulers.request import Request, request_words
from steptime.schedulers.site import Framework, Site

VARIABLE = re.compile(r"\$(?:[A-Za-z_][A-Za-z0-9_]*|\{[A-Za-z_][A-Za-z0-9_]*\})")
KILL_SECONDS = 30
MASTER_PORTS = (20000, 12000)
"""the first port on which ranks meet, and how many there are, one for each job id; from 32768 on they are Linux's to give out"""


@dataclass(frozen=True)
class Task:
    """One case of a script."""

    folder: str
    """from the sweep's folder"""
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
    """beats what the site says; empty: as the site says"""


def expandable(text: str) -> str:
    """A shell word in which $VARIABLES are expanded and nothing else is."""
    parts, at = [], 0
    for found in VARIABLE.finditer(text):
        parts += [text[at : found.start()], found.group()]
        at = found.end()
    parts.append(text[at:])
    return "".join(f'"{part}"' if i % 2 else shlex.quote(part) for i, part in enumerate(parts) if part) or "''"


def comment(text: str) -> str:
    """One line, whatever it holds."""
    return "# " + "".join(letter if letter.isprintable() else " " for letter in text)


def script_text(script: Script) -> str:
    sections = [_head(script), _place(script), _environment(script), _given(script), _run(script)]
    return "\n".join("\n".join(lines) + "\n" for lines in sections)


def job_name(script: Script) -> str:
    """What a script is called when a person submits it."""
    return f"steptime-{re.sub(r'[^A-Za-z0-9_.-]', '_', script.tasks[0].folder)[:40]}"


def _head(script: Script) -> list[str]:
    request, site = script.request, script.site
    options = [
        f"--job-name={job_name(script)}",
        f"--partition={request.partition}" if request.partition else "",
        f"--account={request.account}" if request.account else "",
        f"--qos={request.qos}" if request.qos else "",
        f"--nodes={request.nodes}",
        f"--ntasks-per-node={request.devices}",
        f"--cpus-per-task={request.threads}",
        request.gpus,
        f"--mem={request.memory}" if request.memory else "",
        f"--time={request.time}",
        "--no-requeue",
        _array(script),
        *request.sbatch,
    ]
    what = script.tasks[0].words if len(script.tasks) == 1 else f"{len(script.tasks)} cases, one to a task"
    return [
        "#!/bin/bash -l" if site.login_shell else "#!/bin/bash",
        *(f"#SBATCH {option}" for option in options if option),
        comment(f"{what}; on {request_words(request)}"),
        comment(f"Written by steptime for the site {site.name}. Edit it if you like, and submit it again: sbatch script.sh"),
        "# Each submission leaves a record of its own in the store, and its log here.",
    ]


def _array(script: Script) -> str:
    if not script.array:
        return ""
    running = script.site.arrays.running
    return f"--array=0-{len(script.tasks) - 1}" + (f"%{running}" if running else "")


def _place(script: Script) -> list[str]:
    """Which case this is, and where. `folder` holds job.json and the worker; each try of the case has a folder in it."""
    sweep = shlex.quote(script.sweep_folder)
    lines = [f"sweep={sweep}", '[ -d "$sweep" ] || sweep=$SLURM_SUBMIT_DIR/..  # the store was moved: submit from this folder']
    if script.array:
        lines += ["cases=(", *(f"  {shlex.quote(task.folder)}" for task in script.tasks), ")"]
        lines += ["name=${cases[$SLURM_ARRAY_TASK_ID]}", "job=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"]
    else:
        lines += [f"name={shlex.quote(script.tasks[0].folder)}", "job=$SLURM_JOB_ID"]
    return [
        *lines,
        "folder=$sweep/$name",
        "try=$folder/try-$job",
        "",
        "# steptime's own submissions are known by their names: this one was accepted, unless it has been given up meanwhile.",
        "submission=$sweep/submissions/$SLURM_JOB_NAME",
        'if [ -e "$submission.abandoned" ]; then echo "steptime: this submission was given up"; exit 0; fi',
        'if [ -e "$submission.json" ]; then',
        '  echo "${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}" > "$submission.job.$job" && mv "$submission.job.$job" "$submission.job"',
        "fi",
        'mkdir -p "$try" && cp "$folder/job.json" "$try/job.json" || exit 1',
        "",
        "# How it ends is written down, whatever happens.",
        """trap 'code=$?; echo "$code" > "$try/exit.part" && mv "$try/exit.part" "$try/exit"' EXIT""",
    ]


def _environment(script: Script) -> list[str]:
    site, backend = script.site, script.request.backend
    own = site.backends.get(backend)
    lines = [f"# {backend}, as the site says." if own else f"# {backend}: the site says nothing of it."]
    lines += [f"export {name}={expandable(value)}" for name, value in site.environment.items()]
    if own:
        lines += [f"module load {' '.join(map(shlex.quote, own.modules))}"] if own.modules else []
        lines += _conda(own)
        lines += own.lines
    return [*lines, f"python={_python(own, script.python)}"]


def _conda(own: Framework) -> list[str]:
    if not own.conda:
        return []
    return [
        f"conda_env={expandable(own.conda)}",
        'if [ -x "$conda_env/bin/python" ]; then export PATH="$conda_env/bin:$PATH" CONDA_PREFIX="$conda_env"',
        'else eval "$(conda shell.bash hook)" && conda activate "$conda_env"; fi',
    ]


def _python(own: Framework | None, chosen: str) -> str:
    if chosen or not own:
        return shlex.quote(chosen)
    return expandable(own.python or "python")


def _given(script: Script) -> list[str]:
    """What the record is to say of the job, and where the data are staged."""
    request, site = script.request, script.site
    first, count = MASTER_PORTS
    lines = [
        "# What Slurm gave, for the record.",
        f"export STEPTIME_SITE={shlex.quote(site.name)} STEPTIME_JOB=$job STEPTIME_GRES={shlex.quote(request.gres)}",
        'export STEPTIME_NODES=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | paste --serial --delimiters=,)',
        'export STEPTIME_QUEUED=$(timeout 10 squeue --noheader --jobs="$SLURM_JOB_ID" --format="%V %S" 2> /dev/null)',
    ]
    if request.processes > 1:
        lines += [f"export MASTER_ADDR=${{STEPTIME_NODES%%,*}} MASTER_PORT=$(({first} + SLURM_JOB_ID % {count}))"]
    if request.store:
        lines += ["", "# Where the data are staged: a worker finds a store by the variable of its name."]
        lines += [f"export {request.store.upper().replace('-', '_')}={expandable(site.directories[request.store])}"]
    return lines


def _run(script: Script) -> list[str]:
    request = script.request
    limit = f"timeout --kill-after={KILL_SECONDS} {request.limit_seconds:g}"
    return [
        comment(f"The worker, for at most {request.limit_seconds:g} s; then its record goes into the store."),
        'cd "$try" || exit 1',
        f'{limit} {_launcher(script)}"$python" "$folder/steptime-worker.pyz" "$try"',
        "code=$?",
        '"$python" "$folder/steptime-worker.pyz" --deliver "$try" "$sweep/../.."',
        "exit $code",
    ]


OMPI_RANKS = {"RANK": "RANK", "LOCAL_RANK": "LOCAL_RANK", "WORLD_SIZE": "SIZE"}
RANKS = "bash -c '" + " ".join(f"{ours}=$OMPI_COMM_WORLD_{theirs}" for ours, theirs in OMPI_RANKS.items()) + ' exec "$@"\' bash '


def _launcher(script: Script) -> str:
    request, site = script.request, script.site
    if request.processes == 1 and not site.launch_single:
        return ""
    if site.launcher == "mpirun":
        return f"mpirun -np {request.processes} --map-by ppr:{request.devices}:node {RANKS}"
    per_node = f"--ntasks={request.processes} --ntasks-per-node={request.devices}"
    return f"srun {per_node} --cpus-per-task={request.threads} --kill-on-bad-exit=1 "
