"""Options of models: the error says what would have been valid."""

import pytest

from steptime.core.errors import OptionError, SteptimeError
from steptime.core.models import zoo

INTEGERS = [(m.name, key) for m in zoo.models().values() for key, value in m.options.items() if type(value) is int]
SMALLEST_IMAGES = {
    "alexnet": 67,
    "alexnet_conv": 63,
    "alexnet_owt": 63,
    "inception3": 75,
    "inception4": 75,
    "inception_resnet_v2": 75,
    "overfeat": 71,
    "squeezenet": 31,
    "trivial": 1,
    "vit_b16": 16,
    "resnet20": 4,
    "resnet32": 4,
    "resnet44": 4,
    "resnet56": 4,
    "resnet110": 4,
    "densenet40_k12": 4,
}
IMAGES = [m.name for m in zoo.models().values() if "image" in m.options]


@pytest.mark.parametrize(("name", "key"), INTEGERS)
def test_a_number_below_the_possible_is_an_error_that_names_the_option(name, key):
    with pytest.raises(SteptimeError, match=key):
        zoo.build(name, {key: -1})


@pytest.mark.parametrize("name", IMAGES)
def test_the_smallest_image_is_the_smallest_that_works(name):
    smallest = SMALLEST_IMAGES.get(name, 32)
    assert zoo.build(name, {"image": smallest}).input.shape[0] == smallest
    with pytest.raises(SteptimeError, match="option image must be"):
        zoo.build(name, {"image": smallest - 1})


def test_an_unknown_option_names_the_known_ones():
    with pytest.raises(
        OptionError, match=r"unknown option of model resnet50 'imag' \(did you mean image\?\).*classes, image, width"
    ):
        zoo.build("resnet50", {"imag": 64})


def test_an_unknown_choice_names_the_choices():
    with pytest.raises(OptionError, match=r"unknown value of option head 'both'; known: mlm, pooler"):
        zoo.build("bert_base", {"head": "both"})


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("gpt2_small", {"width": 100}, "width must be a multiple of 12, got 100"),
        ("llama", {"heads": 12, "kv_heads": 5}, "heads must be a multiple of 5, got 12"),
        ("llama", {"width": 12}, "width must be a multiple of 24"),
        ("bert_base", {"sequence": 1000}, "positions must be at least 1000, got 512"),
        ("vit_b16", {"image": 100}, "image must be a multiple of 16, got 100"),
        ("nasnet", {"filters": 1000}, "filters must be a multiple of 96"),
        ("nasnetlarge", {"cells": 1}, "cells of nasnetlarge must be at least 2"),
        ("mobilenet_v2", {"width": 0.0}, "width must be more than 0"),
        ("mnist_cnn", {"dropout": 1.5}, "'dropout'.*rate must be in"),
        ("resnet50", {"classes": "ten"}, "option classes of model resnet50 takes int"),
        ("mlp", {"widths": "10-x"}, "widths is a list of sizes such as 500-300-100"),
    ],
)
def test_an_impossible_value_is_one_clear_line(name, options, message):
    with pytest.raises(SteptimeError, match=message):
        zoo.build(name, options)


def test_options_change_what_they_say():
    assert zoo.build("resnet50", {"classes": 10, "image": 64}).output_shape == (10,)
    assert zoo.build("llama", {"sequence": 77}).output_shape == (77, 32000)
    assert zoo.build("bert_base", {"head": "mlm", "sequence": 64}).output_shape == (64, 30522)
    assert len(zoo.build("acoustic_model", {"layers": 2}).nodes) == 6
    assert zoo.build("mobilenet_v2", {"width": 1.4}).parameter_count == 6_108_776  # published with the paper's code


def test_dropout_can_be_turned_off():
    names = [n.name for n in zoo.build("gpt2_small", {"dropout": 0.0}).nodes]
    assert not any("dropout" in name for name in names)
