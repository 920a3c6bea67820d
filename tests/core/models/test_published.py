"""What the zoo counts is what was published."""

import pytest

from steptime.core.models import zoo
from tests.effort import Effort

PUBLISHED = {
    "acoustic_model": 34_678_784,
    "alexnet": 62_378_344,
    "alexnet_conv": 2_469_696,  # the convolutions of alexnet_owt
    "alexnet_owt": 61_100_840,
    "bert_base": 109_482_240,
    "deep_mnist": 11_972_510,
    "densenet121": 7_978_856,
    "densenet169": 14_149_480,
    "densenet201": 20_013_928,
    "densenet40_k12": 1_019_722,
    "efficientnet_b0": 5_288_548,
    "googlenet": 6_998_552,
    "gpt2_small": 124_439_808,
    "inception3": 23_834_568,
    "inception4": 42_679_816,
    "inception_resnet_v2": 55_843_464,
    "lenet": 431_080,
    "llama": 124_668_672,  # of our choosing; published ones are tested below
    "mlp": 3_962_890,  # of our choosing
    "mnist_cnn": 3_274_634,
    "mobilenet_v1": 4_231_976,
    "mobilenet_v2": 3_504_872,
    "nasnet": 5_289_978,
    "nasnetlarge": 88_753_150,
    "overfeat": 145_920_872,
    "resnet101": 44_549_160,
    "resnet110": 1_727_962,
    "resnet152": 60_192_808,
    "resnet18": 11_689_512,
    "resnet20": 269_722,
    "resnet200": 64_673_832,
    "resnet32": 464_154,
    "resnet34": 21_797_672,
    "resnet44": 658_586,
    "resnet50": 25_557_032,
    "resnet50_v1": 25_557_032,
    "resnet50_v2": 25_549_352,
    "resnet56": 853_018,
    "sensor_net": 2_919_440,
    "squeezenet": 1_248_424,
    "text_cnn": 151_690,
    "trivial": 4_259_780,
    "vgg11": 132_863_336,
    "vgg13": 133_047_848,
    "vgg16": 138_357_544,
    "vgg19": 143_667_240,
    "vit_b16": 86_567_656,
}

LLAMAS = {
    "llama 2 7B": (6_738_415_616, {"layers": 32, "width": 4096, "heads": 32, "kv_heads": 32, "hidden": 11008}),
    "llama 3 8B": (
        8_030_261_248,
        {"layers": 32, "width": 4096, "heads": 32, "kv_heads": 8, "hidden": 14336, "vocabulary": 128256},
    ),
    "tinyllama": (1_100_048_384, {"layers": 22, "width": 2048, "heads": 32, "kv_heads": 4, "hidden": 5632}),
}

# Giga multiply-adds that papers and packages print, to the digits that they print.
MULTIPLY_ADDS = {
    "densenet121": 2.83,
    "inception3": 5.71,
    "mobilenet_v1": 0.569,
    "mobilenet_v2": 0.30,
    "nasnet": 0.564,
    "nasnetlarge": 23.8,
    "resnet50": 4.09,
    "vgg16": 15.47,
    "vit_b16": 17.56,
}


def test_every_model_has_a_published_count():
    assert set(PUBLISHED) == set(zoo.models())


@pytest.mark.parametrize(("name", "count"), PUBLISHED.items())
def test_parameters_are_those_published(name, count):
    assert zoo.build(name, {}).parameter_count == count


@pytest.mark.parametrize(("count", "options"), LLAMAS.values(), ids=LLAMAS)
def test_llama_has_the_published_count_at_published_sizes(count, options):
    assert zoo.build("llama", options).parameter_count == count


def test_the_head_of_masked_language_modelling_adds_what_is_published():
    assert zoo.build("bert_base", {"head": "mlm"}).parameter_count == 109_514_298


@pytest.mark.parametrize(("name", "billions"), MULTIPLY_ADDS.items())
def test_multiply_adds_are_those_published(name, billions):
    assert zoo.build(name, {}).flops_forward / 2e9 == pytest.approx(billions, rel=0.01)


def test_all_graphs_are_built_in_an_instant():
    with Effort() as listing:
        graph = max((entry.build() for entry in zoo.models().values()), key=lambda g: len(g.nodes))
    assert graph.name == "nasnetlarge"
    assert listing.units < 20, listing.units


def test_every_model_says_where_it_comes_from():
    for entry in zoo.models().values():
        assert entry.paper
        assert 1980 < entry.year < 2030
        assert 1 <= entry.batch <= 256
