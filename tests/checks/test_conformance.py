"""The protocol is exact enough to be checked: our own worker keeps to it, and each breach is found."""

import sys
from pathlib import Path

import pytest

from steptime.checks import conformance
from steptime.core.schema import Case
from steptime.launch.job_folder import WORKER, worker_bytes

BREACHES = {
    "no record": ("import sys; sys.exit(0)", "leaves a record.json that matches the schema"),
    "torn record": (
        "import sys; open(sys.argv[1] + '/record.json', 'w').write('{\"id\":')",
        "leaves a record.json that matches the schema",
    ),
    "crash": ("raise SystemExit(7)", "ends with exit code 0"),
    "silence": ("pass", "sends heartbeats"),
    "left-overs": ("import sys; open(sys.argv[1] + '/record.json.tmp', 'w').write('x')", "leaves no half-written file"),
}


@pytest.mark.slow
def test_our_own_worker_keeps_to_the_protocol(inside, tmp_path):
    (tmp_path / WORKER).write_bytes(worker_bytes())
    done = inside("doctor", "reference", "--worker", f"{sys.executable} {tmp_path / WORKER}", "--json")
    assert done.code == 0, done.out
    assert len(done.json) == 10
    assert all(row["kept"] for row in done.json)


@pytest.mark.parametrize("breach", BREACHES)
def test_each_breach_is_found(inside, tmp_path, breach):
    code, rule = BREACHES[breach]
    worker = tmp_path / "worker.py"
    worker.write_text(code)
    done = inside("doctor", "reference", "--worker", f"{sys.executable} {worker}", "--json")
    assert done.code == 1
    assert rule in [row["rule"] for row in done.json if not row["kept"]]


@pytest.mark.slow
def test_a_worker_that_outlives_its_controller_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(conformance, "ORPHAN_SECONDS", 1.0)
    worker = tmp_path / "worker.py"
    worker.write_text("import os, time; os.write(int(os.environ['STEPTIME_EVENTS_FD']), b'x'); time.sleep(30)")
    case = Case("mlp", "reference", 8)
    ((rule, wrong),) = conformance._orphaned([sys.executable, str(worker)], tmp_path / "job", case)
    assert (rule, wrong) == ("ends when the controller is gone", "still runs after 1 s")


@pytest.mark.slow
def test_a_wrong_summary_is_found(inside, tmp_path):
    """A worker that reports the speed of its best step as the mean."""
    (tmp_path / WORKER).write_bytes(worker_bytes())
    wrapper = tmp_path / "boast.py"
    wrapper.write_text(
        "import json, pathlib, subprocess, sys\n"
        f"subprocess.run([sys.executable, {str(tmp_path / WORKER)!r}, sys.argv[1]], close_fds=False)\n"
        "path = pathlib.Path(sys.argv[1]) / 'record.json'; record = json.loads(path.read_text())\n"
        "if record['summary']: record['summary']['mean_speed'] *= 1.5\n"
        "path.write_text(json.dumps(record))\n"
    )
    done = inside("doctor", "reference", "--worker", f"{sys.executable} {wrapper}", "--json")
    broken = {row["rule"]: row["seen"] for row in done.json if not row["kept"]}
    assert "mean_speed" in broken["computes the summary as the protocol defines it"]
    assert "not the batch" in broken["keeps the invariants"]


def test_a_command_that_does_not_exist_is_one_line(inside):
    done = inside("doctor", "--worker", "/no/such/worker")
    assert (done.code, len(done.err.splitlines())) == (2, 1)


def test_the_protocol_page_names_every_field_of_a_record():
    import dataclasses

    from steptime.core import schema

    page = (Path(__file__).parents[2] / "docs" / "worker-protocol.md").read_text()
    for kind in (schema.Steps, schema.Summary, schema.Cost, schema.Budget):
        for field in dataclasses.fields(kind):
            if field.name not in ("loss_steps", "losses"):
                assert f"`{field.name}`" in page, field.name
