"""Whatever becomes of a worker, the controller lives on and knows what happened."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from steptime.core.machine.memory import usable_bytes
from steptime.core.schema import Budget, Case, Job
from steptime.launch import local
from steptime.launch.local import Ending, _Listener, cause_of, record_of, run_worker


def job(budget=None, **options):
    return Job("j", Case("mlp", "fake", 8, backend_options=options, budget=budget or Budget(max_steps=50)))


def outcome(tmp_path, a_job, **how):
    folder = tmp_path / "job"
    ending = run_worker(a_job, folder, tmp_path, Path(sys.executable), lambda event: None, **how)
    return record_of(a_job, folder, ending)


@pytest.mark.parametrize(
    ("failure", "kind", "words"),
    [
        ("segv", "crash", "SIGSEGV"),
        ("kill", "crash", "SIGKILL"),
        ("illegal", "illegal_instruction", "SIGILL"),
        ("exit", "crash", "exit code 3"),
        ("raise", "crash", "RuntimeError: the fake backend was told to fail"),
        ("oom", "out_of_memory", "told to run out of memory"),
        ("unsupported", "unsupported", "told not to"),
        ("nan", "wrong_result", "the loss is nan"),
        ("garbage", "ok", ""),
    ],
)
def test_each_way_to_end_has_its_kind(tmp_path, failure, kind, words):
    record = outcome(tmp_path, job(failure=failure, fail_at=3))
    assert (record.status, words in record.message) == (kind, True)


@pytest.mark.slow
def test_a_stopped_worker_is_noticed_by_its_silence(tmp_path):
    record = outcome(tmp_path, job(failure="stop", fail_at=3), heartbeat_seconds=4.0)
    assert record.status == "timeout"
    assert "no heartbeat for 4 s (the process is stopped)" in record.message


@pytest.mark.slow
def test_a_hanging_worker_is_ended_at_its_limit(tmp_path):
    record = outcome(tmp_path, job(Budget(limit_seconds=2.0), failure="hang", fail_at=3))
    assert (record.status, record.message) == ("timeout", "not done after 2 s")


def test_a_flood_of_output_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(local, "LOG_LIMIT_BYTES", 8 << 20)
    record = outcome(tmp_path, job(failure="flood", fail_at=3))
    assert (record.status, record.message) == ("crash", "wrote more than 8 MiB to its log")
    assert len(record.failure.log_tail) < 10_000


def test_a_worker_killed_from_outside_is_a_crash_with_the_signal(tmp_path):
    pids = []

    def kill():
        while not pids:
            pids.extend(int(p.parent.name) for p in Path("/proc").glob("[0-9]*/cmdline") if str(tmp_path) in _text(p))
            time.sleep(0.02)
        time.sleep(0.3)
        os.kill(pids[0], signal.SIGKILL)

    threading.Thread(target=kill, daemon=True).start()
    record = outcome(tmp_path, job(Budget(target=1e-9), sleep=True, step_ms=50.0))
    assert (record.status, record.failure.signal) == ("crash", "SIGKILL")


def test_an_interpreter_that_does_not_start_is_a_launch_failure(tmp_path):
    broken = tmp_path / "python"
    broken.write_text("not a program")
    broken.chmod(0o755)
    ending = run_worker(job(), tmp_path / "job", tmp_path, broken, lambda event: None)
    assert record_of(job(), tmp_path / "job", ending).status == "launch_failed"


def test_a_torn_record_is_a_crash_that_says_so(tmp_path):
    (tmp_path / "record.json").write_text('{"id": "x", "stat')
    record = record_of(job(), tmp_path, Ending(exit_code=0))
    assert record.status == "crash"
    assert "unreadable record" in record.message


def test_a_kill_near_the_end_of_memory_is_out_of_memory():
    cause = cause_of(Ending(exit_code=-9, rss_bytes=int(0.95 * usable_bytes())))
    assert cause.kind == "out_of_memory"
    assert "SIGKILL" in cause.message


def test_garbage_on_the_event_pipe_is_dropped():
    seen = []
    reader, writer = os.pipe()
    listener = _Listener(reader, seen.append)
    os.write(writer, b'\x00\xff{not json\n{"event": "phase"}\n[1]\n"alone"\n{"event": "al')
    os.write(writer, b'ive", "rss_bytes": 5}\n' + b"x" * 1000)
    listener.poll()
    listener.poll()
    os.close(writer)
    os.close(reader)
    assert [event["event"] for event in seen] == ["phase", "alive"]
    assert listener.rss_bytes == 5


def test_what_the_framework_prints_is_in_the_log_and_nowhere_else(tmp_path, capfd):
    outcome(tmp_path, job(failure="garbage", fail_at=3))
    assert b"not json" in (tmp_path / "job" / "log.txt").read_bytes()
    assert capfd.readouterr() == ("", "")


def _text(path):
    try:
        return path.read_text()
    except OSError:
        return ""
