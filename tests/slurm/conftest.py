"""Clusters for tests, one of each kind per session."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.slurm import cluster
from tests.slurm.cluster import Cluster


@pytest.fixture(scope="session")
def slurm() -> Iterator[Cluster]:
    """A Slurm without accounting: finished jobs are known to scontrol for a while, and sacct fails."""
    yield from _running(accounting=False)


@pytest.fixture(scope="session")
def slurm_accounting() -> Iterator[Cluster]:
    """A Slurm with sacct."""
    yield from _running(accounting=True)


def _running(accounting: bool) -> Iterator[Cluster]:
    if reason := cluster.missing(accounting):
        pytest.skip(reason)
    with cluster.running(accounting) as found:
        yield found
