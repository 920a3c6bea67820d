"""Batches come in epochs, shuffled by the seed, the same for any number of replicas together."""

from itertools import chain

import numpy as np
import pytest

from steptime.core.data.batches import Batches
from steptime.core.data.dataset import Samples, read_split, splits_in
from steptime.core.errors import Unsupported
from steptime.core.models import zoo
from tests.core.data.idx import write_set


@pytest.fixture
def samples(tmp_path) -> Samples:
    write_set(tmp_path)
    return read_split(splits_in(tmp_path)["train"])


GRAPH = zoo.build("mnist_cnn", {})


def numbers(batches: Batches) -> list[int]:
    """Which images the next batch has: their first pixel says it."""
    inputs, _ = batches.next()
    return np.rint(inputs.reshape(len(inputs), -1)[:, 0] * 255).astype(int).tolist()


def test_an_epoch_has_every_image_once_in_another_order_each_time(samples):
    batches = Batches(samples, GRAPH, 8, seed=1)
    epochs = [list(chain.from_iterable(numbers(batches) for _ in range(3))) for _ in range(3)]
    assert all(sorted(epoch) == list(range(24)) for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) == 3 and batches.epochs == 3


def test_the_seed_decides_the_order(samples):
    first, same, other = (Batches(samples, GRAPH, 8, seed) for seed in (1, 1, 2))
    assert numbers(first) == numbers(same) != numbers(other)


def test_what_is_no_whole_batch_at_the_end_of_an_epoch_is_dropped(samples):
    batches = Batches(samples, GRAPH, 10, seed=1)
    for _ in range(4):
        assert len(set(numbers(batches))) == 10
    assert batches.epochs == 2


def test_replicas_together_see_what_one_process_with_the_effective_batch_sees(samples):
    whole = Batches(samples, GRAPH, 12, seed=5)
    parts = [Batches(samples, GRAPH, 4, seed=5, rank=rank, replicas=3) for rank in range(3)]
    for _ in range(7):
        assert numbers(whole) == list(chain.from_iterable(map(numbers, parts)))


def test_labels_belong_to_their_images_and_bytes_become_0_to_1(samples):
    inputs, labels = Batches(samples, GRAPH, 8, seed=1).next()
    assert inputs.dtype == np.float32 and inputs.shape == (8, 28, 28, 1) and labels.dtype == np.int64
    assert np.array_equal(np.rint(inputs[:, 0, 0, 0] * 255).astype(int) % 10, labels)
    assert inputs.min() >= 0 and inputs.max() <= 1


def test_the_same_arrays_are_filled_again(samples):
    batches = Batches(samples, GRAPH, 8, seed=1)
    assert batches.next()[0].ctypes.data == batches.next()[0].ctypes.data


def test_a_flat_model_takes_images_as_rows(samples):
    graph = zoo.build("mlp", {})
    if graph.input.shape != (784,):
        pytest.skip("mlp no longer takes 784 values")
    assert Batches(samples, graph, 8, seed=1).next()[0].shape == (8, 784)


@pytest.mark.parametrize(
    ("model", "batch", "words"),
    [
        ("resnet50", 8, "the data have images of 28 x 28 x 1, and resnet50 takes 224 x 224 x 3"),
        ("mnist_cnn", 25, "an effective batch of 25 is more than the 24 images"),
        ("gpt2_small", 1, "gpt2_small does not take one image and one label per sample"),
    ],
)
def test_data_that_do_not_fit_the_model_are_unsupported(samples, model, batch, words):
    with pytest.raises(Unsupported, match=words):
        Batches(samples, zoo.build(model, {}), batch, seed=1)


def test_labels_beyond_the_classes_are_unsupported(tmp_path):
    write_set(tmp_path, classes=12)
    with pytest.raises(Unsupported, match="labels up to 11, and mnist_cnn has 10 classes"):
        Batches(read_split(splits_in(tmp_path)["train"]), GRAPH, 8, seed=1)
