"""The timed loop. `timed_block` is the only code inside the measurement; nothing else may be put there."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Callable, Optional

from steptime.core.backends.base import Program
from steptime.core.machine import contention
from steptime.core.machine.contention import Sample
from steptime.core.machine.gpu import GpuSample, GpuWatch
from steptime.core.schema import Budget, StopReason
from steptime.core.stats.stopping import Stopping

BLOCK_SECONDS = 0.25
LONGEST_BLOCK_STEPS = 1000


def timed_block(step: Callable[[], None], wait: Callable[[], None], clock: Callable[[], float], marks: array[float]) -> None:
    """Steps until `marks` is full of the moments between them. No prints, no allocation, nothing but the work."""
    marks[0] = clock()
    for i in range(1, len(marks)):
        step()
        wait()
        marks[i] = clock()


@dataclass
class Run:
    """What the loop recorded."""

    seconds: list[float] = field(default_factory=list)
    samples: list[tuple[int, Sample]] = field(default_factory=list)
    """(steps done, counters) before the first block and after each"""
    loss_steps: list[int] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    stopped_by: Optional[StopReason] = None

    def steady_samples(self, start: int) -> tuple[tuple[int, Sample], tuple[int, Sample]]:
        """The first and the last that lie in the steady part, which begins at step `start`; at least the last block's."""
        inside = [entry for entry in self.samples[:-1] if entry[0] >= start] or [self.samples[-2]]
        return inside[0], self.samples[-1]

    def gpu_samples(self, start: int) -> list[GpuSample]:
        """From the first to the last of the steady part; empty where no GPU was watched."""
        first, last = self.steady_samples(start)
        return [sample.gpu for steps, sample in self.samples if first[0] <= steps <= last[0] and sample.gpu]


Report = Callable[[Sequence[float]], None]
Agree = Callable[[list[float]], list[float]]


def _alone(seconds: list[float]) -> list[float]:
    return seconds


def run_steps(program: Program, budget: Budget, report: Report, agree: Agree = _alone, watch: Optional[GpuWatch] = None) -> Run:
    """Runs blocks of steps until the budget ends them. Reads counters, losses and progress between blocks only.

    Several ranks agree after each block on the times of its steps. From the same times each rank decides the same: how many steps
    come next, and when to stop.
    """
    run, stopping, spent = Run(), Stopping(budget), 0.0
    run.samples.append((0, contention.sample(watch)))
    while not run.stopped_by:
        marks = array("d", bytes(8 * (1 + _block_steps(run.seconds, budget))))
        timed_block(program.step, program.wait, program.clock, marks)
        block = agree([end - begin for begin, end in zip(marks, marks[1:])])
        run.seconds += block
        spent += sum(block) if len(run.seconds) > 1 else 0.0  # the first step may compile for longer than all others
        _note_loss(run, program.loss())
        run.samples.append((len(run.seconds), contention.sample(watch)))
        report(run.seconds)
        run.stopped_by = stopping.reason(run.seconds, spent)
    return run


def _note_loss(run: Run, loss: Optional[float]) -> None:
    if loss is not None:
        run.loss_steps.append(len(run.seconds))
        run.losses.append(loss)


def _block_steps(seconds: Sequence[float], budget: Budget) -> int:
    """One step at first (it may compile), then as many as fill a quarter of a second."""
    if not seconds:
        return 1
    recent = sorted(seconds[-5:])[len(seconds[-5:]) // 2]
    fitting = int(BLOCK_SECONDS / recent) if recent > 0 else LONGEST_BLOCK_STEPS
    return max(1, min(fitting, LONGEST_BLOCK_STEPS, len(seconds), budget.max_steps - len(seconds)))
