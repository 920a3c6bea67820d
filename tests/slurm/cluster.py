"""A real Slurm of six nodes on this machine, in a directory of its own, for tests and for developers to play with.

    def  c1 c2 c3         no GPUs
    gpu  gk1              4 k80
         gp1 gp2          2 p100 each (the devices are links to /dev/null: jobs get them assigned, nothing runs on them)

All daemons are real (munge, slurmctld, a slurmd per node; with accounting also MariaDB and slurmdbd). Ports are free ones, so
several clusters can be up at once. A cluster ends with the process that started it, however that ends: a keeper waits at the
other end of a pipe. `python -m tests.slurm.cluster up|down LINK` is the same without a keeper.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import fcntl
import os
import random
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.slurm import files

DAEMONS = ("munged", "slurmctld", "slurmd")
ACCOUNTING_DAEMONS = ("mariadb-install-db", "mariadbd", "slurmdbd")
MARKER = "STEPTIME_TEST_CLUSTER"
"""in the environment of every daemon: whose it is"""
PR_SET_CHILD_SUBREAPER = 36
HOSTS = Path("/etc/hosts")
SEARCH = "/usr/sbin:/usr/bin:/sbin:/bin"
PATIENCE = 4
"""times what a wait may take where nothing else runs: other tests do"""
ENDED = {"BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "TIMEOUT"}


class ClusterError(Exception):
    """The cluster did not do what it must; the message has the end of its logs."""


def missing(accounting: bool = False) -> str:
    """Why no cluster can be had here; empty if one can."""
    if os.geteuid() != 0:
        return "a Slurm of our own needs root"
    wanted = DAEMONS + (ACCOUNTING_DAEMONS if accounting else ())
    absent = [name for name in wanted if not shutil.which(name, path=SEARCH)]
    return f"no {', '.join(absent)} here: tests/system-packages installs them" if absent else ""


@dataclass
class Cluster:
    root: Path
    accounting: bool = False
    _keeper: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    # what tests ask of it

    @property
    def conf(self) -> Path:
        return self.root / "etc" / "slurm.conf"

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs to speak to this cluster and to no other."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "SBATCH_", "SQUEUE_"))}
        return {**clean, "SLURM_CONF": str(self.conf), "PATH": f"{os.environ.get('PATH', '')}:{SEARCH}"}

    @property
    def kills_for_memory(self) -> bool:
        """Whether a job that takes more than its memory is really ended for it."""
        return files.has_memory_cgroup()

    @property
    def scratch(self) -> Path:
        return self.root / "scratch"

    def run(self, *command: str | Path, check: bool = True, timeout: float = 60, cwd: Path | None = None, **env: str) -> str:
        """What squeue, sinfo, scontrol, ... print."""
        done = self.try_run(*command, timeout=timeout, cwd=cwd, **env)
        if check and done.returncode != 0:
            raise ClusterError(f"{' '.join(map(str, command))}: {done.stderr.strip() or done.returncode}")
        return done.stdout

    def try_run(
        self, *command: str | Path, timeout: float = 60, cwd: Path | None = None, **env: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            list(map(str, command)),
            capture_output=True,
            text=True,
            timeout=timeout,
            cwd=cwd or self.root,
            env={**self.environment, **env},
            stdin=subprocess.DEVNULL,
        )

    def sbatch(self, script: str, *options: str, cwd: Path | None = None) -> int:
        """Submits the lines of a bash script; its output is slurm-JOBID.out in the cluster's `work` or in cwd."""
        folder = cwd or self.root / "work"
        folder.mkdir(exist_ok=True)
        path = folder / f"script-{random.getrandbits(40):x}.sh"
        path.write_text(script if script.startswith("#!") else f"#!/bin/bash\n{script}\n")
        return int(self.run("sbatch", "--parsable", *options, path, cwd=folder).split(";")[0])

    def output(self, job: int) -> str:
        return (self.root / "work" / f"slurm-{job}.out").read_text()

    def state(self, job: int) -> str:
        shown = self.run("scontrol", "--oneliner", "show", "job", str(job))
        return re.findall(r"\bJobState=(\S+)", shown)[0]

    def wait(self, job: int, timeout: float = 60) -> str:
        """The state in which a job ended."""
        wait_for(lambda: self.state(job) in ENDED, timeout, f"job {job} to end")
        return self.state(job)

    def stop_controller(self) -> None:
        _end_by_pid_file(self.root / "slurmctld.pid")

    def start_controller(self, *options: str) -> None:
        _daemon(self.root, "slurmctld", "-f", self.conf, *options)
        wait_for(self.answers, 30, "slurmctld to answer", self.root)

    def answers(self) -> bool:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return " UP" in self.try_run("scontrol", "ping", timeout=5).stdout
        return False

    def stop_node(self, name: str) -> None:
        """Ends a node's slurmd; its running jobs live on."""
        _end_by_pid_file(self.root / f"slurmd-{name}.pid")

    def start_node(self, name: str) -> None:
        _daemon(self.root, "slurmd", "-f", self.conf, "-N", name)

    def set_node(self, name: str, state: str) -> None:
        """down | drain | resume"""
        self.run("scontrol", "update", f"nodename={name}", f"state={state}", "reason=test")

    @contextlib.contextmanager
    def node_down(self, name: str) -> Iterator[None]:
        """The node has failed, and is back afterwards."""
        self.set_node(name, "down")
        try:
            yield
        finally:
            # Refused where it has come back by itself: a slurmd that registers again ends the failure.
            self.try_run("scontrol", "update", f"nodename={name}", "state=resume")
            wait_for(lambda: self.node_states()[name] in ("idle", "mixed", "allocated"), 30, f"{name} to come back", self.root)

    def node_states(self) -> dict[str, str]:
        lines = self.run("sinfo", "--noheader", "--Node", "--format=%N %T").splitlines()
        return {name: state.rstrip("*") for name, state in map(str.split, lines)}

    # its life

    def start(self) -> None:
        try:
            self._start()
        except BaseException:
            self.stop()
            raise

    def _start(self) -> None:
        ports = free_ports(9)
        files.write(self.root, self.accounting, ports)
        _add_hosts(self.root)
        munge = ("key-file", "socket", "pid-file", "log-file", "seed-file")
        named = [f"--{option}={self.root}/munge/munge.{option.removesuffix('-file')}" for option in munge]
        _daemon(self.root, "munged", *named, "--num-threads=4")
        if self.accounting:
            self._start_accounting()
        self.start_controller()
        for name in files.NODES:
            self.start_node(name)
        wait_for(lambda: set(self.node_states().values()) == {"idle"}, 60, "all nodes to be idle", self.root)

    def _start_accounting(self) -> None:
        data = self.root / "mariadb"
        options = ("--no-defaults", f"--datadir={data}", "--user=root")
        _daemon(self.root, "mariadb-install-db", *options, "--skip-test-db", "--auth-root-authentication-method=normal")
        _daemon(self.root, "mariadbd", f"--defaults-file={self.root}/etc/mariadb.cnf", waits=False)
        wait_for((self.root / "mariadb.socket").exists, 60, "MariaDB to listen", self.root)
        _daemon(self.root, "slurmdbd", SLURM_CONF=str(self.conf))
        added = ("sacctmgr", "-i", "add", "cluster", files.NAME)
        wait_for(lambda: self._registered(*added), 60, "slurmdbd to answer", self.root)

    def _registered(self, *command: str) -> bool:
        done = self.try_run(*command)
        return done.returncode == 0 or "already exists" in done.stdout + done.stderr

    def start_kept(self) -> None:
        """Starts by way of a process that takes the cluster down when this one ends, however it ends."""
        self._keeper = subprocess.Popen(
            [sys.executable, "-m", "tests.slurm.cluster", "keep", self.root, *(["--accounting"] if self.accounting else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[2],
            start_new_session=True,  # a Ctrl-C is not for it
        )
        assert self._keeper.stdout
        if said := self._keeper.stdout.read().decode():  # it closes this when the cluster is up
            self.stop()
            raise ClusterError(said)

    def stop(self) -> None:
        if self._keeper is None:
            return take_down(self.root)
        assert self._keeper.stdin and self._keeper.stdout
        self._keeper.stdin.close()
        self._keeper.stdout.close()
        self._keeper.wait(60)
        return None


@contextlib.contextmanager
def running(accounting: bool = False) -> Iterator[Cluster]:
    cluster = Cluster(new_root(), accounting)
    cluster.start_kept()
    try:
        yield cluster
    finally:
        cluster.stop()


def new_root() -> Path:
    """Short, because sockets lie in it; open to all, because jobs of any user run in it."""
    root = Path(tempfile.mkdtemp(prefix="steptime-slurm-", dir="/tmp"))
    root.chmod(0o755)
    return root


def wait_for(condition, timeout: float, what: str, root: Path | None = None) -> None:  # type: ignore[no-untyped-def]
    limit = time.monotonic() + PATIENCE * timeout
    while not condition():
        if time.monotonic() > limit:
            raise ClusterError(f"waited {PATIENCE * timeout:g} s for {what}{files.log_tails(root) if root else ''}")
        time.sleep(0.05)


def free_ports(count: int) -> list[int]:
    """Below the range from which the kernel takes ports for outgoing connections."""
    found: list[int] = []
    while len(found) < count:
        port = random.randrange(10_000, 32_000)
        with socket.socket() as trial, contextlib.suppress(OSError):
            trial.bind(("127.0.0.1", port))
            found += [port] if port not in found else []
    return found


def _daemon(root: Path, *command: str | Path, waits: bool = True, **env: str) -> None:
    """Starts what puts itself into the background (or, if not waits, is left there)."""
    surroundings = {"PATH": SEARCH, "LANG": "C", MARKER: str(root), **env}
    with open(root / "log" / "start.log", "ab") as log:
        process = subprocess.Popen(
            list(map(str, command)),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=surroundings,
            cwd=root,
            start_new_session=True,
        )
        if waits and process.wait(60) != 0:
            raise ClusterError(f"{command[0]} ended with {process.returncode}{files.log_tails(root)}")


def take_down(root: Path) -> None:
    """Ends every process of the cluster and removes all that it made. May be called twice, and of a cluster half started."""
    for path in [*root.glob("slurmd-*.pid"), root / "slurmctld.pid", root / "slurmdbd.pid", root / "mariadb.pid"]:
        _end_by_pid_file(path, patience=10)
    _end_by_pid_file(root / "munge" / "munge.pid")
    limit = time.monotonic() + 20
    while (left := processes(root)) and time.monotonic() < limit:
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)
    files.remove_cgroups()
    _change_hosts(lambda lines: [line for line in lines if not line.endswith(f"# {root}")])
    shutil.rmtree(root, ignore_errors=True)


def processes(root: Path) -> list[int]:
    """Daemons of this cluster, steps that they started, and what those run."""
    parents: dict[int, int] = {}
    ours: set[int] = set()
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            if (stat := (folder / "stat").read_text().rpartition(")")[2].split())[0] == "Z":
                continue
            parents[int(folder.name)] = int(stat[1])
            entries = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if f"{MARKER}={root}".encode() in entries or _is_step(folder, root) or _is_task(entries, root):
            ours.add(int(folder.name))
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return sorted(ours)


def _is_step(process: Path, root: Path) -> bool:
    """A slurmstepd writes its title over its environment; it lives in the folder of its slurmd's log."""
    try:
        return (process / "comm").read_text().strip() == "slurmstepd" and (process / "cwd").readlink() == root / "log"
    except OSError:
        return False


def _is_task(entries: list[bytes], root: Path) -> bool:
    """Whether this is the environment that slurmd gave to a task of the cluster in root."""
    local = f"LOCAL={root}/local/".encode()
    return any(e.startswith(local) for e in entries) and any(e.startswith(b"SLURMD_NODENAME=") for e in entries)


def _end_by_pid_file(path: Path, patience: float = 20) -> None:
    try:
        pid = int(path.read_text())
        os.kill(pid, signal.SIGTERM)
    except (OSError, ValueError):
        return
    limit = time.monotonic() + patience
    while _alive(pid) and time.monotonic() < limit:
        time.sleep(0.02)
    if _alive(pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _add_hosts(root: Path) -> None:
    """So that MASTER_ADDR may be a node's name."""
    _change_hosts(lambda lines: [*lines, f"127.0.0.1 {' '.join(files.NODES)} # {root}"])


def _change_hosts(change) -> None:  # type: ignore[no-untyped-def]
    """In place and under a lock: in containers the file is often mounted by itself, and two clusters may start at once."""
    with open(HOSTS, "r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        before = file.read()
        after = "".join(f"{line}\n" for line in change(before.splitlines()))
        if after != before:
            file.seek(0)
            file.write(after)
            file.truncate()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.slurm.cluster", description=__doc__.partition("\n")[0])
    parser.add_argument("verb", choices=("up", "down", "keep"))
    parser.add_argument("path", type=Path, help="a link to the cluster's directory, made by up and removed by down")
    parser.add_argument("--accounting", action="store_true", help="with sacct")
    arguments = parser.parse_args()
    if arguments.verb == "keep":
        _keep(Cluster(arguments.path, arguments.accounting))
    elif arguments.verb == "down":
        _down(arguments.path)
    else:
        sys.exit(_up(arguments.path, arguments.accounting))


def _keep(cluster: Cluster) -> None:
    """Is the parent of what loses its own, so that nothing of the cluster stays, not even as a zombie."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        cluster.start()
    except Exception as problem:
        print(problem, flush=True)
    os.close(1)
    while not select.select([0], [], [], 0.2)[0]:
        _reap()
    take_down(cluster.root)
    _reap()


def _reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _up(link: Path, accounting: bool) -> str | None:
    if reason := missing(accounting):
        return reason
    if link.is_symlink() and link.exists():
        print(f"export SLURM_CONF={link.resolve()}/etc/slurm.conf")
        return None
    cluster = Cluster(new_root(), accounting)
    cluster.start()
    link.unlink(missing_ok=True)
    link.symlink_to(cluster.root)
    print(f"export SLURM_CONF={cluster.conf}")
    return None


def _down(link: Path) -> None:
    if not link.is_symlink():
        print(f"no cluster at {link}")
        return
    take_down(link.readlink())
    link.unlink()


if __name__ == "__main__":
    main()
