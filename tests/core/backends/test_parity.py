"""Every backend that computes is proven the same as the reference: the suite that the package offers, over all of them."""

import pytest

from steptime.checks.parity_suite import *  # noqa: F403

pytestmark = [pytest.mark.real, pytest.mark.timeout(3600)]  # the first test of a question waits for the answers of all
PARITY_BACKENDS = ["all"]


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    """The frameworks that `make test` installed, not the empty home that other tests get."""
    from tests.conftest import INSTALLED

    monkeypatch.setenv("STEPTIME_HOME", INSTALLED or "nowhere")
    return tmp_path
