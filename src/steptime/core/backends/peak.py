"""How fast a framework multiplies matrices: the limit that its speed is compared with."""

from __future__ import annotations

import time
from typing import Callable

LONGEST_PRODUCT_SECONDS = 2.0
CPU_SIZES = (256, 1024, 2048)
LARGE_CPU_SIZES = (*CPU_SIZES, 4096)
CUDA_SIZES = (1024, 4096, 8192)


def best_rate(multiply: Callable[[int], Callable[[], None]], wait: Callable[[], None], sizes: tuple[int, ...]) -> float:
    """FLOP/s of the fastest square matrix product among `sizes`, from small to large, each given about a third of a second.

    A type that the device only emulates may be a thousand times slower: sizes that would take too long are left out.
    """
    best = 0.0
    for size in sizes:
        if best and 2.0 * size**3 / best > LONGEST_PRODUCT_SECONDS:
            break
        run = multiply(size)
        run()
        wait()
        until = time.perf_counter() + 0.35
        while time.perf_counter() < until:
            begin = time.perf_counter()
            run()
            wait()
            best = max(best, 2.0 * size**3 / (time.perf_counter() - begin))
    return best
