import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.core.errors import CaseFailed
from steptime.sweep.largest import PRECISION, largest_batch


@given(st.integers(1, 10**7), st.integers(1, 5000))
def test_the_answer_fits_and_is_close_to_the_truth_in_few_tries(limit, first):
    tries = []

    def fits(batch):
        tries.append(batch)
        return batch <= limit

    found = largest_batch(first, fits)
    assert found <= limit
    assert limit - found <= max(0, found // PRECISION)
    assert len(tries) < 60
    assert len(set(tries)) == len(tries)


def test_a_model_that_never_fits_says_so():
    with pytest.raises(CaseFailed, match="not even a batch of 1"):
        largest_batch(8, lambda batch: False)
