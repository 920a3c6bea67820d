"""Workers forked from an interpreter that has imported the framework are workers like any other."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from steptime.core.schema import Budget, Case, Job
from steptime.launch.fork_server import ForkServers
from steptime.launch.local import record_of, run_worker


@pytest.fixture
def fork_servers(tmp_path):
    found = ForkServers(tmp_path / "fork-server")
    yield found
    found.close()


def job(identity="j", **options):
    return Job(identity, Case("mlp", "fake", 8, backend_options=options, budget=Budget(max_steps=50)))


def outcome(tmp_path, a_job, fork_server, **how):
    folder = tmp_path / a_job.id
    python = Path(sys.executable)
    return record_of(
        a_job, folder, run_worker(a_job, folder, tmp_path, python, lambda event: None, fork_server=fork_server, **how)
    )


def test_one_fork_server_serves_many_jobs_each_in_its_own_process(tmp_path, fork_servers):
    fork_server = fork_servers.get(Path(sys.executable), "fake", {})
    records = [outcome(tmp_path, job(f"j{i}"), fork_server) for i in range(3)]
    assert [r.status for r in records] == ["ok"] * 3
    assert not fork_server.broken


@pytest.mark.slow
def test_a_forked_worker_that_dies_takes_nobody_along(tmp_path, fork_servers):
    fork_server = fork_servers.get(Path(sys.executable), "fake", {})
    for failure, kind in [("segv", "crash"), ("illegal", "illegal_instruction"), ("exit", "crash"), ("raise", "crash")]:
        assert outcome(tmp_path, job(failure, failure=failure, fail_at=2), fork_server).status == kind
        assert outcome(tmp_path, job(f"after-{failure}"), fork_server).status == "ok"
        assert not fork_server.broken


@pytest.mark.slow
def test_a_stopped_forked_worker_is_ended(tmp_path, fork_servers):
    fork_server = fork_servers.get(Path(sys.executable), "fake", {})
    record = outcome(tmp_path, job("bad", failure="stop", fail_at=2), fork_server, heartbeat_seconds=2.5)
    assert record.status == "timeout"
    assert outcome(tmp_path, job("good"), fork_server).status == "ok"


@pytest.mark.slow
def test_a_dead_fork_server_is_replaced_by_a_fresh_start(tmp_path, fork_servers):
    fork_server = fork_servers.get(Path(sys.executable), "fake", {})
    outcome(tmp_path, job("first"), fork_server)
    os.kill(fork_server._process.pid, signal.SIGKILL)
    time.sleep(0.1)
    assert outcome(tmp_path, job("second"), fork_server).status == "ok"
    assert fork_server.broken
    assert fork_servers.get(Path(sys.executable), "fake", {}) is None


def test_an_interpreter_that_cannot_be_a_fork_server_still_gets_its_record(tmp_path, fork_servers):
    fork_server = fork_servers.get(Path("/bin/false"), "fake", {})
    assert outcome(tmp_path, job("first"), fork_server).status == "ok"
    assert fork_server.broken


def test_another_environment_is_another_fork_server(fork_servers):
    first = fork_servers.get(Path(sys.executable), "fake", {"OMP_NUM_THREADS": "1"})
    assert fork_servers.get(Path(sys.executable), "fake", {"OMP_NUM_THREADS": "1"}) is first
    assert fork_servers.get(Path(sys.executable), "fake", {"OMP_NUM_THREADS": "2"}) is not first
