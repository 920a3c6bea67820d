import pytest

from steptime.errors import UsageError
from steptime.plan.grid import Grid, cases_of


def test_the_default_is_the_suite_in_both_phases():
    cases = cases_of(Grid())
    assert [(c.model, c.phase) for c in cases] == [
        (model, phase) for model in ("mnist_cnn", "alexnet_conv", "resnet50") for phase in ("training", "inference")
    ]


def test_repeats_take_turns():
    cases = cases_of(Grid(models=["mlp", "lenet"], backends=["null"], phases=["training"], repeats=2))
    assert [(c.model, c.repeat) for c in cases] == [("mlp", 0), ("lenet", 0), ("mlp", 1), ("lenet", 1)]


def test_options_are_axes_too():
    cases = cases_of(Grid(models=["mlp"], backends=["null"], phases=["training"], model_options={"layers": ["4", "8", "10"]}))
    assert [c.model_options["layers"] for c in cases] == [4, 8, 10]


def test_inference_has_no_optimizer():
    assert {c.optimizer for c in cases_of(Grid(models=["mlp"], backends=["null"], phases=["inference"]))} == {"none"}


@pytest.mark.parametrize("bad", [{"batches": [0]}, {"threads": [-1]}, {"repeats": 0}, {"models": ["nothing"]}])
def test_bad_axes_are_refused(bad):
    with pytest.raises(UsageError):
        cases_of(Grid(**{"models": ["mlp"], "backends": ["null"], **bad}))
