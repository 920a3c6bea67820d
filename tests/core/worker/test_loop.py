import inspect

from steptime.core.backends.base import Program
from steptime.core.schema import Budget
from steptime.core.worker.loop import run_steps, timed_block


class Scripted(Program):
    """Each step moves a clock of its own by the next of the given durations."""

    def __init__(self, durations):
        self.now, self.count, self.durations, self.waits = 0.0, 0, durations, 0
        self.clock = lambda: self.now

    def step(self):
        self.now += self.durations(self.count)
        self.count += 1

    def wait(self):
        self.waits += 1

    def loss(self):
        return float(self.count)


def test_every_step_is_recorded_and_waited_for():
    program = Scripted(lambda i: 0.5 if i == 0 else 0.01 + 1e-5 * (i % 5))
    run = run_steps(program, Budget(), lambda seconds: None)
    assert len(run.seconds) == program.count == program.waits
    assert abs(run.seconds[0] - 0.5) < 1e-9
    assert abs(sum(run.seconds) - program.now) < 1e-9
    assert run.stopped_by == "target"


def test_the_first_block_is_one_step_and_blocks_grow_to_a_quarter_of_a_second():
    sizes, seen = [], 0

    def report(seconds):
        nonlocal seen
        sizes.append(len(seconds) - seen)
        seen = len(seconds)

    run_steps(Scripted(lambda i: 0.01), Budget(max_steps=200, min_steps=10**6), report)
    assert sizes[0] == 1
    assert max(sizes) in (24, 25)
    assert sum(sizes) == 200


def test_losses_and_counters_are_read_between_blocks():
    run = run_steps(Scripted(lambda i: 0.1), Budget(max_steps=10, min_steps=10**6), lambda seconds: None)
    assert run.loss_steps[-1] == 10
    assert run.losses == [float(step) for step in run.loss_steps]
    assert [steps for steps, _ in run.samples] == [0, *run.loss_steps]


def test_nothing_has_crept_into_the_timed_code():
    body = inspect.getsource(timed_block).split('"""')[2].split()
    assert " ".join(body) == "marks[0] = clock() for i in range(1, len(marks)): step() wait() marks[i] = clock()"
