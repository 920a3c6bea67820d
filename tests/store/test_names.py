import pytest

from steptime.importing.record import started
from steptime.store import names


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("ResNet-50", "resnet50"),
        ("resnet_50", "resnet50"),
        ("ResNet 152", "resnet152"),
        ("resnet50_v1.5", "resnet50"),
        ("resnet50_v2", "resnet50_v2"),
        ("InceptionV3", "inception3"),
        ("inception_v4", "inception4"),
        ("VGG Model-A", "vgg11"),
        ("vgga", "vgg11"),
        ("OxfordNet[Model-A]", "vgg11"),
        ("VGG-16", "vgg16"),
        ("OverFeat[fast]", "overfeat"),
        ("GoogleNet", "googlenet"),
        ("googlenet-v1", "googlenet"),
        ("AlexNetOWT", "alexnet_owt"),
        ("bert-base-uncased", "bert_base"),
        ("Deep MNIST", "mnist_cnn"),
        ("vit_base_patch16_224", "vit_b16"),
        ("mobilenet", "mobilenet_v1"),
        ("Nasnet", "nasnet"),
        ("Wide ResNet-50-2", "wide_resnet_50_2"),
    ],
)
def test_models_have_one_spelling(raw, name):
    assert names.model(raw) == name


@pytest.mark.parametrize(
    ("raw", "name", "kind"),
    [
        ("GeForce GTX 1080 Ti", "GeForce GTX 1080 Ti", "gpu"),
        ("RTX 2080Ti", "GeForce RTX 2080 Ti", "gpu"),
        ("rtx3090", "GeForce RTX 3090", "gpu"),
        ("NVIDIA GeForce RTX 3090", "GeForce RTX 3090", "gpu"),
        ("k80", "Tesla K80", "gpu"),
        ("p100", "Tesla P100", "gpu"),
        ("Tesla V100-SXM2-16GB", "Tesla V100-SXM2-16GB", "gpu"),
        ("NVIDIA A100-SXM4-40GB", "A100-SXM4-40GB", "gpu"),
        ("Nvidia Tesla T4", "Tesla T4", "gpu"),
        ("Tesla K40c", "Tesla K40c", "gpu"),
        ("GeForce RTX 2080 with Max-Q Design", "GeForce RTX 2080 with Max-Q Design", "gpu"),
        ("Quadro RTX 6000", "Quadro RTX 6000", "gpu"),
        ("RTX A6000", "RTX A6000", "gpu"),
        ("GeForce GTX TITAN X", "GeForce GTX TITAN X", "gpu"),
        ("tpu-v3", "tpu-v3", "tpu"),
        ("Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz", "Intel Xeon Gold 6148 CPU @ 2.40GHz", "cpu"),
        ("AMD EPYC 7742", "AMD EPYC 7742", "cpu"),
        ("CPU", "", "cpu"),
        ("Vega 20", "Vega 20", "gpu"),
        ("AMD MI25", "AMD MI25", "gpu"),
        ("abacus", "abacus", ""),
        ("", "", ""),
    ],
)
def test_processors_have_one_spelling_and_a_kind(raw, name, kind):
    assert names.device(raw) == (name, kind)


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("float32", "fp32"),
        ("single (FP32)", "fp32"),
        ("torch.float16", "fp16"),
        ("Half", "fp16"),
        ("double", "fp64"),
        ("bfloat16", "bf16"),
        ("INT8", "int8"),
        ("amp", "mixed"),
        ("unknown", ""),
        ("", ""),
    ],
)
def test_precisions_have_one_spelling(raw, name):
    assert names.precision(raw) == name


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        ("TensorFlow 1.12.0", ("tensorflow", "1.12.0")),
        ("custom MXNet 1.3.1", ("mxnet", "1.3.1")),
        ("bvlc_caffe", ("caffe", "")),
        ("PyTorch 0.4.1", ("pytorch", "0.4.1")),
        ("nvtfcnn", ("tensorflow", "")),
        ("Something New 2.0", ("something_new", "2.0")),
        ("", ("", "")),
    ],
)
def test_frameworks_have_one_spelling_and_a_version(raw, found):
    assert names.framework(raw) == found


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        ("1520000000", "2018-03-02T14:13:20+00:00"),
        ("2019-01-08 10:01:28", "2019-01-08T10:01:28+00:00"),
        ("2018-06-04", "2018-06-04T00:00:00+00:00"),
        ("2018-05-01T10:00:00.000000+02:00", "2018-05-01T08:00:00+00:00"),
        ("last week", ""),
        ("0001-01-01", ""),
        ("", ""),
    ],
)
def test_moments_are_told_in_utc_or_not_at_all(raw, found):
    assert started(raw) == found
