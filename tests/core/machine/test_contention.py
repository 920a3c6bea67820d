import os
from dataclasses import replace

import pytest

from steptime.core.machine.contention import Sample, judge, sample
from steptime.core.machine.cpus import usable_cpus

CPUS = os.cpu_count() or 1
BEGIN = Sample(0.0, 0.0, 0, 0.0, 0.0, 0.0, 1)
QUIET = Sample(10.0, 10.0, 30, 0.1, 10.0, 0.0, 1)


def test_a_quiet_machine_is_clean():
    found = judge(BEGIN, QUIET, steps=100, threads=1)
    assert found.verdict == "clean"
    assert found.cpu_seconds_per_step == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("change", "verdict", "reason"),
    [
        ({"pressure_seconds": 1.0}, "noisy", "waited for a CPU 10%"),
        ({"pressure_seconds": 5.0}, "contended", "waited for a CPU 50%"),
        ({"steal_seconds": 0.5 * CPUS}, "noisy", "hypervisor took 5%"),
        ({"steal_seconds": 2.0 * CPUS}, "contended", "hypervisor took 20%"),
        ({"busy_seconds": 10.0 * (CPUS + 1)}, "contended", "other processes used"),
    ],
)
def test_each_disturbance_is_named(change, verdict, reason):
    found = judge(BEGIN, replace(QUIET, **change, involuntary_switches=100), steps=100, threads=1)
    assert found.verdict == verdict
    assert reason in found.reason


def test_pressure_that_never_displaces_us_is_somebody_elses():
    crowd = replace(QUIET, pressure_seconds=9.0, involuntary_switches=3)
    assert judge(BEGIN, crowd, steps=100, threads=1).verdict == "clean"


def test_more_threads_than_cpus_contend_with_themselves():
    found = judge(BEGIN, QUIET, steps=100, threads=CPUS + 1)
    assert (found.verdict, found.reason) == ("contended", f"{CPUS + 1} threads on {usable_cpus():g} usable CPUs")


def test_a_moment_is_not_judged():
    assert judge(BEGIN, replace(QUIET, wall_seconds=0.01), steps=1, threads=1).verdict == "unknown"


def test_missing_counters_are_missing_not_zero():
    bare = Sample(10.0, 10.0, 0, None, None, None, None)
    found = judge(BEGIN, bare, steps=1, threads=1)
    assert (found.pressure_share, found.steal_share, found.foreign_cores, found.runnable_tasks) == (None, None, None, None)


def test_counters_only_grow():
    first, second = sample(), sample()
    assert second.wall_seconds >= first.wall_seconds
    assert second.cpu_seconds >= first.cpu_seconds
