import itertools

import pytest

from steptime.core.stats.interval import quantile

# From printed tables of Student's t, two-sided 95% and 99%.
TABLE = [
    (0.975, 1, 12.706),
    (0.975, 2, 4.303),
    (0.975, 3, 3.182),
    (0.975, 4, 2.776),
    (0.975, 5, 2.571),
    (0.975, 7, 2.365),
    (0.975, 10, 2.228),
    (0.975, 30, 2.042),
    (0.975, 120, 1.980),
    (0.995, 3, 5.841),
    (0.995, 10, 3.169),
    (0.995, 60, 2.660),
    (0.95, 6, 1.943),
]


@pytest.mark.parametrize(("probability", "freedom", "printed"), TABLE)
def test_quantiles_agree_with_printed_tables(probability, freedom, printed):
    assert quantile(probability, freedom) == pytest.approx(printed, rel=4e-4)


def test_fewer_degrees_of_freedom_never_give_a_narrower_interval():
    values = [quantile(0.975, 1.5 + i / 10) for i in range(300)]
    assert all(a >= b * 0.985 for a, b in itertools.pairwise(values))
