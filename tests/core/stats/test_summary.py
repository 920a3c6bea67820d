import itertools
import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.core.stats.summary import MINIMUM_WARMUP_STEPS, steady_start, summarise

RANDOM = np.random.default_rng(4)
STEPS = st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=200)


def test_the_figures_are_those_of_tf_cnn_benchmarks():
    seconds, batch = [0.5, 0.25, 0.4, 0.5, 0.2], 10
    speeds = [batch / s for s in seconds]
    found = summarise(seconds, batch)
    assert found.mean_seconds == pytest.approx(0.37)
    assert found.mean_speed == pytest.approx(10 / 0.37)
    assert found.uncertainty == pytest.approx(statistics.pstdev(speeds) / math.sqrt(5))
    middle = statistics.median(speeds)
    assert found.jitter == pytest.approx(1.4826 * statistics.median(abs(s - middle) for s in speeds))


@given(STEPS, st.integers(1, 10**6))
def test_speed_times_time_is_the_batch(seconds, batch):
    found = summarise(seconds, batch)
    assert found.mean_speed * found.mean_seconds == pytest.approx(batch, rel=1e-9)


@given(STEPS, st.integers(1, 10**6))
def test_quantiles_are_in_order_and_the_interval_holds_the_mean(seconds, batch):
    s = summarise(seconds, batch)
    ordered = [s.min_seconds, s.p50_seconds, s.p90_seconds, s.p95_seconds, s.p99_seconds, s.max_seconds]
    assert all(a <= b * (1 + 1e-12) for a, b in itertools.pairwise(ordered))
    assert s.ci_low <= s.mean_speed * (1 + 1e-9) and s.mean_speed <= s.ci_high * (1 + 1e-9)
    assert math.isfinite(s.ci_high)


def noise(count, spread=0.02):
    return 1 + spread * RANDOM.standard_normal(count)


@pytest.mark.parametrize("slow", [1, 3, 10, 40])
def test_slow_first_steps_are_found(slow):
    series = noise(400)
    series[:slow] *= 4
    start = steady_start(series)
    assert slow <= start <= slow + 60


def test_a_ramp_is_left_behind():
    series = noise(600) + np.concatenate([np.linspace(1, 0, 150), np.zeros(450)])
    assert steady_start(series) >= 100


def test_plain_noise_loses_little():
    assert np.mean([steady_start(noise(300)) for _ in range(50)]) < 30


def test_never_fewer_than_the_minimum_and_never_everything():
    assert steady_start([1.0] * 100) == MINIMUM_WARMUP_STEPS
    assert steady_start([1.0, 1.0]) == 1
    assert steady_start([1.0]) == 0


@given(st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=300))
def test_what_is_kept_is_at_least_about_half(series):
    start = steady_start(series)
    assert 0 <= start < len(series)
    assert start <= len(series) // 2 + MINIMUM_WARMUP_STEPS + 5
