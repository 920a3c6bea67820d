from steptime.core.schema import Budget
from steptime.core.stats.stopping import Stopping


def ask(budget, step_seconds, limit=100_000):
    stopping, seconds = Stopping(budget), []
    for i in range(limit):
        seconds.append(step_seconds(i))
        reason = stopping.reason(seconds, sum(seconds))
        if reason:
            return reason, len(seconds)
    raise AssertionError("never stopped")


def test_steady_steps_stop_at_the_target_but_not_before_the_minimum():
    reason, steps = ask(Budget(min_steps=30), lambda i: 0.1 + 0.0001 * (i % 3))
    assert reason == "target"
    assert 30 <= steps < 60


def test_erratic_steps_stop_at_the_budget_of_seconds():
    reason, steps = ask(Budget(max_seconds=5), lambda i: 0.01 * (1 + 5 * (i % 7)))
    assert reason == "seconds"
    assert 5 <= 0.16 * steps <= 5.5


def test_a_slow_first_step_is_never_the_figure():
    reason, steps = ask(Budget(max_seconds=1), lambda i: 100.0 if i == 0 else 0.4)
    assert (reason, steps) == ("seconds", 5)


def test_a_budget_of_steps_is_kept_exactly():
    assert ask(Budget(max_steps=17, min_steps=50), lambda i: 0.001) == ("steps", 17)
