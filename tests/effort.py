"""CPU time in units of a fixed piece of Python, so that a limit holds on any machine, however busy."""

from __future__ import annotations

import time


def unit_seconds() -> float:
    begin = time.process_time()
    sum(number * number for number in range(1_000_000))
    return time.process_time() - begin


class Effort:
    """`with Effort() as effort: ...`, then effort.units."""

    units = 0.0

    def __enter__(self) -> Effort:
        self._unit, self._begin = unit_seconds(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        spent = time.process_time() - self._begin
        self.units = spent / max(self._unit, unit_seconds())
