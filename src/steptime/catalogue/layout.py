"""Where the boxes of a directed graph go when it is drawn from top to bottom, and how its lines run.

The usual four steps: boxes are put on ranks so that every line points down; lines that pass a rank get a point there;
each rank is ordered so that few lines cross; then every box moves as near to its neighbours as its rank allows.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

GAP = 26.0
"""between two boxes of a rank"""
LANE = 14.0
"""the width that a passing line gets"""
ORDER_SWEEPS = 8
PLACE_SWEEPS = 24


@dataclass(frozen=True)
class Layout:
    centres: list[float]
    """x of each box"""
    ranks: list[int]
    lines: dict[tuple[int, int], list[tuple[float, int]]]
    """(from, to) to the x and rank of every point between the two"""


def layered(widths: Sequence[float], edges: Sequence[tuple[int, int]]) -> Layout:
    """For boxes 0, 1, ... of these widths; an edge leads from a box to one with a higher number."""
    ranks = _ranks(len(widths), edges)
    sizes, levels, links, lanes = _with_lanes(widths, edges, ranks)
    rows = _ordered(levels, links)
    x = _placed(rows, sizes, links)
    left = min((c - s / 2 for c, s in zip(x, sizes)), default=0.0)
    x = [c - left for c in x]
    return Layout(x[: len(widths)], ranks, {e: [(x[p], levels[p]) for p in points] for e, points in lanes.items()})


def _ranks(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """As low as what follows allows: a branch is drawn near to where it joins."""
    height = [0] * count
    for a, b in sorted(edges, reverse=True):
        height[a] = max(height[a], height[b] + 1)
    top = max(height, default=0)
    return [top - h for h in height]


Links = list[list[int]]


def _with_lanes(
    widths: Sequence[float], edges: Sequence[tuple[int, int]], ranks: list[int]
) -> tuple[list[float], list[int], tuple[Links, Links], dict[tuple[int, int], list[int]]]:
    """Boxes and then passing points: their widths and ranks, their links up and down, and the points of each line."""
    sizes, levels = list(widths), list(ranks)
    up: Links = [[] for _ in sizes]
    down: Links = [[] for _ in sizes]
    lanes: dict[tuple[int, int], list[int]] = {}
    for a, b in edges:
        points = []
        for level in range(ranks[a] + 1, ranks[b]):
            points.append(len(sizes))
            sizes.append(LANE)
            levels.append(level)
            up.append([])
            down.append([])
        for above, below in zip([a, *points], [*points, b]):
            down[above].append(below)
            up[below].append(above)
        lanes[a, b] = points
    return sizes, levels, (up, down), lanes


def _ordered(levels: list[int], links: tuple[Links, Links]) -> list[list[int]]:
    """The ranks from top to bottom, each from left to right: everyone near the mean place of its neighbours."""
    rows: list[list[int]] = [[] for _ in range(max(levels, default=-1) + 1)]
    for item, level in enumerate(levels):
        rows[level].append(item)
    place = {item: i / max(len(row) - 1, 1) for row in rows for i, item in enumerate(row)}
    best, fewest = [list(row) for row in rows], _crossings(rows, links[1])
    for sweep in range(ORDER_SWEEPS):
        near = links[sweep % 2]
        for row in rows if sweep % 2 == 0 else reversed(rows):
            row.sort(key=lambda item: _mean([place[n] for n in near[item]], place[item]))
            place.update({item: i - (len(row) - 1) / 2 for i, item in enumerate(row)})
        crossings = _crossings(rows, links[1])
        if crossings < fewest:
            best, fewest = [list(row) for row in rows], crossings
    return best


def _crossings(rows: list[list[int]], down: Links) -> int:
    total = 0
    for upper, lower in itertools.pairwise(rows):
        place = {item: i for i, item in enumerate(lower)}
        ends = [place[n] for item in upper for n in sorted(down[item], key=place.__getitem__)]
        total += sum(a > b for i, a in enumerate(ends) for b in ends[i + 1 :])
    return total


def _placed(rows: list[list[int]], sizes: list[float], links: tuple[Links, Links]) -> list[float]:
    x = [0.0] * len(sizes)
    for row in rows:
        _spread(row, [0.0] * len(row), sizes, x)
    for sweep in range(PLACE_SWEEPS):
        near = links[sweep % 2]
        for row in rows if sweep % 2 == 0 else reversed(rows):
            _spread(row, [_mean([x[n] for n in near[item]], x[item]) for item in row], sizes, x)
    return x


def _spread(row: list[int], wishes: list[float], sizes: list[float], x: list[float]) -> None:
    """The places nearest to the wishes (least squares) that keep order and distance.

    Those that would collide form pools, which move as one. Boxes and passing lines count alike: were one of them
    favoured, every block of a deep model would be drawn a little further aside than the one above it.
    """
    offsets = [0.0]
    for left, right in itertools.pairwise(row):
        offsets.append(offsets[-1] + (sizes[left] + sizes[right]) / 2 + GAP)
    pools: list[tuple[float, int]] = []  # place, members
    for wish, offset in zip(wishes, offsets):
        place, members = wish - offset, 1
        while pools and pools[-1][0] > place:
            p, m = pools.pop()
            place, members = (place * members + p * m) / (members + m), members + m
        pools.append((place, members))
    places = [place for place, members in pools for _ in range(members)]
    for item, place, offset in zip(row, places, offsets):
        x[item] = place + offset


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise
