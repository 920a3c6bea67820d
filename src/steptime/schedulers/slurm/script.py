"""Slurm's parts of a batch script: #SBATCH lines, the variables of a job, srun."""

from __future__ import annotations

from steptime.schedulers.request import Request
from steptime.schedulers.scheduler import JobVariables
from steptime.schedulers.site import Site


class SlurmScript:
    submit_command = "sbatch"
    variables = JobVariables("SLURM_JOB_ID", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "SLURM_JOB_NAME", "SLURM_SUBMIT_DIR")

    def directives(self, site: Site, request: Request, job_name: str, tasks: int) -> list[str]:
        options = [
            f"--job-name={job_name}",
            f"--partition={request.partition}" if request.partition else "",
            f"--account={request.account}" if request.account else "",
            f"--qos={request.qos}" if request.qos else "",
            f"--nodes={request.nodes}",
            f"--ntasks-per-node={request.devices}",
            f"--cpus-per-task={request.threads}",
            _gpus(site, request.gres),
            f"--mem={request.memory}" if request.memory else "",
            f"--time={request.time}",
            "--no-requeue",
            _array(site, tasks),
            *request.options,
        ]
        return [f"#SBATCH {option}" for option in options if option]

    def allocation(self) -> list[str]:
        return [
            "export STEPTIME_PARTITION=$SLURM_JOB_PARTITION",
            'export STEPTIME_NODES=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | paste --serial --delimiters=,)',
            'export STEPTIME_QUEUED=$(timeout 10 squeue --noheader --jobs="$SLURM_JOB_ID" --format="%V %S" 2> /dev/null)',
        ]

    def launcher(self, request: Request) -> str:
        per_node = f"--ntasks={request.processes} --ntasks-per-node={request.devices}"
        return f"srun {per_node} --cpus-per-task={request.threads} --kill-on-bad-exit=1 "


def _gpus(site: Site, gres: str) -> str:
    if not gres:
        return ""
    return f"--gres={gres}" if site.gpu_flag == "gres" else f"--gpus-per-node={gres.removeprefix('gpu:')}"


def _array(site: Site, tasks: int) -> str:
    if not tasks:
        return ""
    running = site.arrays.running
    return f"--array=0-{tasks - 1}" + (f"%{running}" if running else "")
