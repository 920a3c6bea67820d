"""The interval must cover the truth as often as it says, on series that are as unfriendly as real steps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.core.schema import Budget
from steptime.core.stats.interval import effective_steps, mean_interval
from steptime.core.stats.stopping import Stopping
from steptime.core.stats.summary import steady_start, summarise

TRUTH = 0.01


def correlated(random, series, count, rho, noise):
    """Step times around TRUTH with lag-1 autocorrelation rho and relative deviation `noise`; a few slow ones first."""
    fresh = random.standard_normal((count, series)) * np.sqrt(1 - rho**2)
    deviation = np.empty((count, series))
    deviation[0] = random.standard_normal(series)
    for i in range(1, count):
        deviation[i] = rho * deviation[i - 1] + fresh[i]
    times = TRUTH * np.maximum(0.1, 1 + noise * deviation)
    times[:5] *= 3
    return times.T


def as_a_worker_would(series, budget):
    """The whole procedure: blocks, stopping rule, warm-up, summary."""
    stopping, done = Stopping(budget), 1
    while not stopping.reason(series[:done], float(series[:done].sum())) and done < len(series):
        done = min(done + min(25, done), len(series))
    return summarise(series[steady_start(series[:done]) : done], 1)


def covered(count, rho, noise):
    """How many of so many series have an interval that covers the truth."""
    series = correlated(np.random.default_rng(2024), count, 1500, rho, noise)
    found = (as_a_worker_would(each, Budget(max_seconds=15.0)) for each in series)
    return sum(summary.ci_low <= 1 / TRUTH <= summary.ci_high for summary in found)


KINDS = pytest.mark.parametrize(("rho", "noise"), [(0.0, 0.05), (0.3, 0.1), (0.5, 0.05), (0.8, 0.03), (0.8, 0.1), (0.9, 0.05)])


@KINDS
def test_the_95_percent_interval_covers_the_truth_in_nearly_all_series(rho, noise):
    """Of so few series one more or less may be missed; the textbook error misses every fifth."""
    assert covered(100, rho, noise) >= 91


@pytest.mark.real
@KINDS
def test_the_95_percent_interval_covers_the_truth_in_93_of_100_series_or_more(rho, noise):
    assert covered(500, rho, noise) >= 0.93 * 500


def test_the_textbook_error_would_not_have_covered_it():
    found = correlated(np.random.default_rng(5), 200, 400, 0.8, 0.05)[:, 5:]
    assert sum(abs(s.mean() - TRUTH) <= 1.96 * s.std() / np.sqrt(len(s)) for s in found) < 0.8 * 200


def test_dependence_shrinks_the_effective_sample():
    random = np.random.default_rng(6)
    assert effective_steps(correlated(random, 1, 2000, 0.0, 0.05)[0, 5:]) > 1500
    assert effective_steps(correlated(random, 1, 2000, 0.9, 0.05)[0, 5:]) < 300


@given(st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=200))
def test_the_mean_lies_in_its_interval(series):
    interval = mean_interval(series)
    assert interval.low <= interval.mean * (1 + 1e-12) and interval.mean <= interval.high * (1 + 1e-12)


@given(st.lists(st.floats(1e-6, 1e3), min_size=2, max_size=100), st.floats(0.01, 100))
def test_the_interval_scales_with_the_unit(series, factor):
    plain, scaled = mean_interval(series), mean_interval([factor * s for s in series])
    assert scaled.high == pytest.approx(factor * plain.high, rel=1e-6)
