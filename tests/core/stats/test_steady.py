import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.core.stats.steady import MINIMUM_WARMUP_STEPS, steady_start

RANDOM = np.random.default_rng(4)


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
