"""The files of the test cluster: what Slurm, munge and MariaDB are told, as text."""

from __future__ import annotations

import contextlib
import os
import socket
from pathlib import Path

NAME = "bench"
GPUS = {"gk1": ("k80", 4), "gp1": ("p100", 2), "gp2": ("p100", 2)}
NODES = ("c1", "c2", "c3", *GPUS)
FOLDERS = ("etc", "log", "state", "dev", "local", "scratch", "munge", "mariadb", "work")
CGROUPS = Path("/sys/fs/cgroup")

SLURM = """\
ClusterName={name}
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={ctld}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={root}/munge/munge.socket
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/spool/%n
TmpFS={root}/tmp/%n
SlurmctldPidFile={root}/slurmctld.pid
SlurmdPidFile={root}/slurmd-%n.pid
SlurmctldLogFile={root}/log/slurmctld.log
SlurmdLogFile={root}/log/slurmd-%n.log
SlurmdParameters=config_overrides
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin={task}
SwitchType=switch/none
MpiDefault=none
Prolog={root}/etc/prolog.sh
Epilog={root}/etc/epilog.sh
TaskProlog={root}/etc/taskprolog.sh
PrologFlags=Alloc
ReturnToService=2
SlurmdTimeout=15
KillWait=2
MinJobAge=300
FirstJobId={first_job}
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,bf_interval=2,sched_min_interval=0
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
DefMemPerCPU=500
GresTypes=gpu
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=2
JobCompType=jobcomp/filetxt
JobCompLoc={root}/log/jobcomp.log
{accounting}
NodeName=DEFAULT CPUs=4 RealMemory=4000 TmpDisk=10000 State=UNKNOWN
{nodes}
PartitionName=DEFAULT DefaultTime=00:10:00 MaxTime=2-00:00:00 State=UP
PartitionName=def Nodes=c[1-3] Default=YES
PartitionName=gpu Nodes=gk1,gp[1-2]
"""
# Two clusters share the names of their nodes and so of their cgroups: their jobs must not have the same numbers (first_job).

WITH_ACCOUNTING = """\
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={dbd}
AccountingStoragePass={root}/munge/munge.socket"""
WITHOUT_ACCOUNTING = "AccountingStorageType=accounting_storage/none"

GRES = """\
AutoDetect=off
NodeName=gk1 Name=gpu Type=k80 File={root}/dev/nvidia[0-3]
NodeName=gp[1-2] Name=gpu Type=p100 File={root}/dev/nvidia[0-1]
"""

CGROUP = """\
CgroupPlugin=cgroup/v1
CgroupMountpoint=/sys/fs/cgroup
CgroupAutomount=no
ConstrainRAMSpace=yes
ConstrainSwapSpace=no
ConstrainCores=no
ConstrainDevices=no
"""

SLURMDBD = """\
AuthType=auth/munge
AuthInfo=socket={root}/munge/munge.socket
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={dbd}
SlurmUser=root
LogFile={root}/log/slurmdbd.log
PidFile={root}/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={sql}
StorageUser=slurm
StoragePass=slurm
StorageLoc=slurm_acct_db
"""

MARIADB = """\
[mariadbd]
user=root
datadir={root}/mariadb
socket={root}/mariadb.socket
pid-file={root}/mariadb.pid
log-error={root}/log/mariadb.log
bind-address=127.0.0.1
port={sql}
init-file={root}/etc/init.sql
skip-name-resolve
innodb-buffer-pool-size=64M
innodb-log-file-size=8M
innodb-flush-log-at-trx-commit=0
"""

INIT_SQL = """\
CREATE DATABASE IF NOT EXISTS slurm_acct_db;
CREATE USER IF NOT EXISTS 'slurm'@'127.0.0.1' IDENTIFIED BY 'slurm';
GRANT ALL ON slurm_acct_db.* TO 'slurm'@'127.0.0.1';
"""

PROLOG = """\
#!/bin/sh
mkdir -p "{root}/local/$SLURMD_NODENAME/$SLURM_JOB_ID" && chown "$SLURM_JOB_UID" "{root}/local/$SLURMD_NODENAME/$SLURM_JOB_ID"
"""
EPILOG = """\
#!/bin/sh
rm -rf "{root}/local/$SLURMD_NODENAME/$SLURM_JOB_ID"
"""
TASK_PROLOG = """\
#!/bin/sh
echo "export LOCAL={root}/local/$SLURMD_NODENAME/$SLURM_JOB_ID"
echo "export SCRATCH={root}/scratch"
"""


def has_memory_cgroup() -> bool:
    """Whether there is a cgroup v1 hierarchy for memory in which we may make groups."""
    trial = CGROUPS / "memory" / f"steptime-trial-{os.getpid()}"
    try:
        trial.mkdir()
        return (trial / "memory.limit_in_bytes").exists()
    except OSError:
        return False
    finally:
        with contextlib.suppress(OSError):
            trial.rmdir()


def write(root: Path, accounting: bool, ports: list[int]) -> None:
    """Everything that lies in a cluster's directory before its daemons start."""
    ctld, dbd, sql, *slurmds = ports
    for name in (*FOLDERS, *(f"tmp/{n}" for n in NODES), *(f"spool/{n}" for n in NODES)):
        (root / name).mkdir(parents=True, exist_ok=True)
    (root / "scratch").chmod(0o1777)
    (root / "work").chmod(0o1777)
    for i in range(4):
        (root / "dev" / f"nvidia{i}").symlink_to("/dev/null")  # a plain file would leave CUDA_VISIBLE_DEVICES unset
    values = {"root": root, "name": NAME, "ctld": ctld, "dbd": dbd, "sql": sql, "first_job": (ctld - 10_000) * 100 + 1}
    texts = {
        "slurm.conf": SLURM.format(
            **values,
            task="task/cgroup" if has_memory_cgroup() else "task/none",
            accounting=WITH_ACCOUNTING.format(**values) if accounting else WITHOUT_ACCOUNTING,
            nodes="\n".join(_node(name, port) for name, port in zip(NODES, slurmds, strict=True)),
        ),
        "gres.conf": GRES.format(**values),
        "cgroup.conf": CGROUP,
        "prolog.sh": PROLOG.format(**values),
        "epilog.sh": EPILOG.format(**values),
        "taskprolog.sh": TASK_PROLOG.format(**values),
    }
    if accounting:
        texts |= {
            "slurmdbd.conf": SLURMDBD.format(**values),
            "mariadb.cnf": MARIADB.format(**values),
            "init.sql": INIT_SQL,
        }
    for name, text in texts.items():
        path = root / "etc" / name
        path.write_text(text)
        path.chmod(0o755 if name.endswith(".sh") else 0o600 if name == "slurmdbd.conf" else 0o644)
    key = root / "munge" / "munge.key"
    key.touch(0o600)
    key.write_bytes(os.urandom(1024))


def _node(name: str, port: int) -> str:
    kind, count = GPUS.get(name, ("", 0))
    gpus = f" Gres=gpu:{kind}:{count} Feature={kind}" if count else ""
    return f"NodeName={name} NodeHostname={socket.gethostname()} NodeAddr=127.0.0.1 Port={port}{gpus}"


def log_tails(root: Path, lines: int = 5) -> str:
    """The end of every log, for a message."""
    found = []
    for path in sorted((root / "log").glob("*.log")):
        tail = path.read_text(errors="replace").splitlines()[-lines:]
        found += [f"\n{path.name}:", *tail]
    return "\n  ".join(found)


def remove_cgroups() -> None:
    """The empty groups that slurmd leaves behind; those of another cluster's running jobs cannot be removed, and stay."""
    for name in NODES:
        for top in CGROUPS.glob(f"*/slurm_{name}"):
            for folder, _, _ in os.walk(top, topdown=False):
                with contextlib.suppress(OSError):
                    os.rmdir(folder)
