"""Which configuration a point of a chart is, and in what points differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from steptime.guide.view.dimensions import dimension, in_order
from steptime.guide.view.view import View

MIXING = (
    "model", "phase", "framework", "framework_version", "precision", "device", "replicas", "nodes", "interconnect", "server",
    "replica_batch", "threads", "optimizer", "data_type", "runtime", "origin", "image_size", "compile", "layout", "augmentation",
    "part", "unit", "variant",
)  # fmt: skip
"""dimensions that say what a point is, where x, group and facet do not; the others follow from these"""
AVERAGES = ("mean", "median")
KINDS_OF_WORK = ("phase", "part", "unit")
"""figures that differ in one of these are never averaged: the mean of a training and an inference is the speed of nothing"""
NOT_AVERAGED = "not averaged"
"""the status of a point whose runs differ in one of these and would be averaged"""
_MACHINE = ("device", "server", "threads", "interconnect", "runtime")
DEVICES = ("replicas", "nodes", "interconnect")
FOLLOWS = {
    "model": ("image_size",),
    "framework": ("framework_version",),
    "backend": ("framework", "framework_version"),
    "software": ("framework", "framework_version"),
    "phase": ("optimizer",),
    "server": _MACHINE,
    "system": _MACHINE,
    **dict.fromkeys(("device", "device_type", "vendor", "architecture", "device_memory_gb", "device_year"), _MACHINE),
    **dict.fromkeys(("replicas", "devices_per_node", "nodes"), DEVICES),
    "effective_batch": ("replica_batch",),
    "data": ("data_type",),
    "data_store": ("data_type",),
}
"""what differs as a matter of course from one value of a dimension to another: devices are in different servers"""


@dataclass(frozen=True)
class Shown:
    """The dimensions of a view that its points are told apart by."""

    named: tuple[str, ...]

    @staticmethod
    def of(view: View) -> Shown:
        return Shown(tuple(view.resolved(d) for d in (view.x, *view.group, *([view.facet] if view.facet else []))))

    @property
    def others(self) -> list[str]:
        """Dimensions that say what a point is beside these."""
        return [d for d in MIXING if d not in self.named]

    def leading(self, name: str, view: View) -> list[int]:
        """Places of the dimensions from whose values another one follows: it is compared where these are equal."""
        strong = view.scaling == "strong" and name == "replica_batch"
        follows = {**FOLLOWS, **dict.fromkeys(DEVICES, ("replica_batch",))} if strong else FOLLOWS
        return [i for i, shown in enumerate(self.named) if name in follows.get(shown, ())]


Configuration = dict[str, str]
"""dimension: its value; without the dimensions of which a point has several values"""


def configuration_of(rows: Sequence[Mapping[str, str]], names: Iterable[str]) -> Configuration:
    """What all rows agree in."""
    if len(rows) == 1:
        return {d: rows[0][d] for d in names}
    return {d: rows[0][d] for d in names if all(row[d] == rows[0][d] for row in rows)}


def shared_by(configurations: Sequence[Configuration]) -> Configuration:
    """What is the same of all points."""
    if not configurations:
        return {}
    first, *rest = configurations
    return {d: value for d, value in first.items() if all(other.get(d) == value for other in rest)}


def known_values(groups: Iterable[Sequence[Configuration]], name: str) -> list[str]:
    """The values of a dimension, if points of one group differ in it. A point that does not say differs from none."""
    values: dict[str, None] = {}
    for group in groups:
        known = dict.fromkeys(c[name] for c in group if c.get(name))
        if len(known) > 1 or (known and any(name not in c for c in group)):
            values.update(known)
    return in_order(dimension(name), values)


def configuration_text(configuration: Configuration) -> str:
    """For tables and files: what is known, in one line."""
    return ", ".join(f"{name}={configuration[name]}" for name in MIXING if configuration.get(name))
