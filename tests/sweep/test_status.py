from dataclasses import replace

import pytest

from steptime.cli.status import _now
from steptime.core.schema import Case
from steptime.store.files import Store
from steptime.sweep import state
from steptime.sweep.live import LiveFile, holding
from steptime.sweep.status import status_of
from tests.core.stats.test_invariants import record as measured

CASES = [Case("mlp", "fake", batch) for batch in (1, 2, 3)]


@pytest.fixture
def finished(tmp_path):
    """A sweep in which every case has a record."""
    store = Store(tmp_path)
    store.prepare()
    sweep = state.begin(store, CASES)
    records = [replace(measured(), id=f"r{case.batch}", case=case, sweep=sweep.id) for case in CASES]
    return store, sweep, records


def test_a_finished_sweep_has_nothing_left(finished):
    status = status_of(*finished)
    assert (status.state, status.done, status.total, status.left_seconds) == ("finished", 3, 3, 0.0)


def test_while_contended_cases_are_measured_again_their_number_and_time_are_told(finished):
    store, sweep, records = finished
    folder = state.folder_of(store, sweep)
    pace = status_of(store, sweep, records[:2]).left_seconds
    with holding(folder):
        live = LiveFile(folder)
        live.measures_again(2)
        assert status_of(*finished).left_seconds == pytest.approx(2 * pace)
        live.case_begins(CASES[0])
        status = status_of(*finished)
        assert (status.state, status.done, status.waiting) == ("running", 3, 0)
        assert status.left_seconds == pytest.approx(2 * pace)
        assert _now(status).startswith("again 1/2: mlp training fake fp32 batch 1")
        live.case_ends(records[0])
        live.case_begins(CASES[1])
        assert status_of(*finished).left_seconds == pytest.approx(pace)
        assert _now(status_of(*finished)).startswith("again 2/2: ")
