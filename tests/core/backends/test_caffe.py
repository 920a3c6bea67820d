"""The text that Caffe is given, and Caffe as a user runs it; that it computes what the reference does is shown in test_parity."""

import time

import pytest

from steptime.core.backends.caffe.layers import TABLE, net_text, pooled_size, rounding, solver_text, write
from steptime.core.backends.caffe.text import Word, message
from steptime.core.errors import Unsupported
from steptime.core.models import zoo
from steptime.core.models.graph import Net
from steptime.core.models.ops import Activation, Add, AvgPool, BatchNorm, Conv2d, Dense, Dropout, Flatten, MaxPool, Pad
from steptime.core.parity.families import FAMILIES, OPENED, graph_of
from steptime.core.reference.network import KERNELS
from tests.conftest import framework_python

real = pytest.mark.real

SMALL_NET = """\
name: "small"
layer {
  name: "data"
  type: "Input"
  top: "data"
  input_param {
    shape {
      dim: 2
      dim: 3
      dim: 8
      dim: 8
    }
  }
}
layer {
  name: "conv2d1"
  type: "Convolution"
  bottom: "data"
  top: "conv2d1"
  convolution_param {
    num_output: 4
    bias_term: false
    pad: 1
    pad: 1
    kernel_size: 3
    kernel_size: 3
    stride: 1
    stride: 1
    dilation: 1
    dilation: 1
    group: 1
  }
}
layer {
  name: "batchnorm1"
  type: "BatchNorm"
  bottom: "conv2d1"
  top: "conv2d1"
  batch_norm_param {
    moving_average_fraction: 0.9
    eps: 1e-05
  }
}
layer {
  name: "batchnorm1/affine"
  type: "Scale"
  bottom: "conv2d1"
  top: "conv2d1"
  scale_param {
    bias_term: true
  }
}
layer {
  name: "activation1"
  type: "ReLU"
  bottom: "conv2d1"
  top: "conv2d1"
}
layer {
  name: "flatten1"
  type: "Flatten"
  bottom: "conv2d1"
  top: "flatten1"
}
layer {
  name: "dense1"
  type: "InnerProduct"
  bottom: "flatten1"
  top: "dense1"
  inner_product_param {
    num_output: 10
    bias_term: true
    axis: 1
  }
}
layer {
  name: "label"
  type: "Input"
  top: "label"
  input_param {
    shape {
      dim: 2
    }
  }
}
layer {
  name: "loss"
  type: "SoftmaxWithLoss"
  bottom: "dense1"
  bottom: "label"
  top: "loss"
  softmax_param {
    axis: 1
  }
}
"""

SOLVER = """\
type: "SGD"
base_lr: 0.01
lr_policy: "fixed"
momentum: 0.9
solver_mode: CPU
random_seed: 7
display: 0
snapshot_after_train: false
net_param {
  name: "x"
}
"""


def kinds(writer):
    return [layer["type"] for layer in writer.layers]


def tops(writer):
    """The blob that each layer writes."""
    return {layer["name"]: layer["top"] for layer in writer.layers}


def test_a_network_is_written_as_a_person_would_write_it():
    net = Net("small")
    x = net(BatchNorm(), net(Conv2d(4, 3, bias=False), net.input(8, 8, 3)))
    graph = net.graph(net(Dense(10), net(Flatten(), net(Activation("relu"), x))))
    assert net_text("small", write(graph, 2, training=True)) == SMALL_NET
    inference = write(graph, 2, training=False)
    assert kinds(inference)[-1] == "InnerProduct"
    assert inference.links.keys() == graph.parameters.keys()


def test_a_solver_has_the_network_inside():
    assert solver_text(message({"name": "x"}), "momentum", 0.01, 7) == SOLVER
    assert 'type: "Adam"' in solver_text("", "adam", 0.1, 1)


def test_texts_are_escaped_and_enums_are_not_quoted():
    assert message({"a": 'say "x\\y"', "b": Word("MAX"), "c": [True, 2], "d": {"e": 0.5}}) == (
        'a: "say \\"x\\\\y\\""\nb: MAX\nc: true\nc: 2\nd {\n  e: 0.5\n}\n'
    )


@pytest.mark.parametrize(
    ("pool", "size", "mode"),
    [
        (MaxPool(2, 2), 28, "FLOOR"),
        (MaxPool(3, 2), 8, "FLOOR"),
        (MaxPool(3, 2, ceil=True), 8, "CEIL"),
        (MaxPool(3, 2, "same"), 8, "CEIL"),  # one pixel more at the end is what rounding up does
        (MaxPool(3, 2, padding=1), 8, "FLOOR"),
        (MaxPool(3, 1, ((0, 2), (0, 2))), 8, ""),  # which Caffe's padding cannot say
    ],
)
def test_windows_are_rounded_as_the_operator_does(pool, size, mode):
    assert rounding(pool, (size, size, 1)) == mode
    if mode:
        pads = pool.window((size, size, 1))[4]
        assert (
            pooled_size(size, 3 if pool.kernel == 3 else 2, pool.strides, pads[0][0], mode == "CEIL", pads[0][0] > 0)
            == (pool.output_shape((size, size, 1))[0])
        )


def test_uneven_padding_is_joined_from_constants():
    net = Net("uneven")
    graph = net.graph(net(Conv2d(4, 3, strides=2), net.input(8, 8, 3), name="conv"), loss="l2")
    writer = write(graph, 2, training=True)
    assert kinds(writer) == ["Input", "Input", "Concat", "Input", "Concat", "Convolution", "Reduction"]
    assert writer.filled == {"conv/after2": 0.0, "conv/after3": 0.0}


def test_padding_that_a_mean_does_not_count_is_weighed():
    counted, not_counted = (
        write(net.graph(net(AvgPool(3, 1, "same", count_padding=c), net.input(4, 4, 1), name="p"), "l2"), 1, False)
        for net, c in ((Net("a"), True), (Net("b"), False))
    )
    assert kinds(counted) == ["Input", "Pooling"]
    assert kinds(not_counted) == ["Input", "Pooling", "Scale"]
    assert not_counted.fixed["p/counted"][0].tolist() == [9 / 4, 9 / 6, 9 / 6, 9 / 4]


def test_nothing_is_overwritten_that_somebody_still_reads():
    net = Net("read twice")
    conv = net(Conv2d(4, 3), net.input(8, 8, 3), name="conv")
    graph = net.graph(net(Add(), conv, net(Activation("relu"), conv, name="relu"), name="sum"), "l2")
    assert tops(write(graph, 1, False))["relu"] == "relu"
    net = Net("curves")
    x = net(Activation("relu6"), net(Conv2d(4, 3), net.input(8, 8, 3), name="conv"), name="clip")
    graph = net.graph(net(Dropout(0.5), net(Activation("tanh"), x, name="tanh"), name="drop"), "l2")
    assert {name: tops(write(graph, 1, True))[name] for name in ("clip", "tanh", "drop")} == {
        "clip": "clip",  # what it cut off is gone from its output
        "tanh": "tanh",
        "drop": "drop",
    }


def test_crops_are_cut_by_a_frame():
    net = Net("crop")
    writer = write(net.graph(net(Pad((-1, 1)), net.input(4, 4, 2), name="p"), "l2"), 1, False)
    assert kinds(writer) == ["Input", "Input", "Crop", "Input", "Concat"]
    assert writer.layers[2]["crop_param"] == {"axis": 1, "offset": [0, 1, 0]}


def test_what_caffe_lacks_is_named():
    assert set(TABLE) < set(KERNELS)
    with pytest.raises(Unsupported, match="caffe has no operator Attention, RMSNorm"):
        write(zoo.build("llama", {"layers": 1}), 1, training=True)
    assert TABLE.lacking(zoo.build("resnet50", {})) == []


@pytest.fixture(scope="session")
def caffe_python():
    return framework_python("caffe")


@real
def test_every_family_that_it_lacks_an_operator_for_is_refused_by_the_operators_names(caffe_python, parity):
    refused = [family for family in FAMILIES if TABLE.lacking(graph_of(family))]
    found = parity(caffe_python, "caffe", "fp32", 1, "sgd", refused)
    assert {family: found[family]["unsupported"] for family in refused} == {
        family: f"caffe has no operator {', '.join(TABLE.lacking(graph_of(family)))}" for family in refused
    }


@real
def test_networks_in_which_rounding_opens_rectifiers_train_as_the_reference_with_a_curve_instead(caffe_python, parity):
    """In single precision, which is all that Caffe has; test_parity has the other families."""
    for family, found in parity(caffe_python, "caffe", "fp32", 1, "sgd", list(OPENED)).items():
        assert found["outputs"] < 1e-5, family
        assert found["loss"] < 1e-4, family
        assert found["statistics"] < 1e-3, family
        assert found["weights"] < 2e-3, family


@real
def test_training_and_inference_give_trustworthy_records(run):
    done = run("mnist_cnn", "--batch", "20", "--full")
    assert done.code == 0, done.err
    for record in done.json:
        assert record["status"] == "ok", record["message"]
        software = record["software"]
        assert software["framework"] == "caffe" and software["framework_version"] == "1.0.0"
        assert software["threads"] == 1 and software["settings"]["blas"] == "OpenBLAS"
        assert software["python"].startswith("3.9.") and software["packages"]["numpy"] == "1.23.5"
        assert 0 < record["cost"]["limit_share"] <= 1.05


@real
def test_what_it_has_not_is_unsupported_with_the_reason(run):
    (row,) = run("mlp", "--phase", "inference", "--precision", "bf16").json
    assert row["status"] == "unsupported" and "fp32 only" in row["message"]
    (row,) = run("vit_b16", "--phase", "inference", "-n", "1").json
    assert row["status"] == "unsupported" and "Attention" in row["message"]


@real
def test_a_long_step_does_not_silence_the_heartbeat(caffe_python, tmp_path):
    """pycaffe holds Python's lock all through a step; a worker that is silent for 30 s is taken for dead."""
    import json
    import os
    import subprocess

    from steptime.core.schema import Budget, Case, Job, to_json
    from steptime.launch.job_folder import put_worker

    budget = Budget(min_steps=1, max_steps=1, max_seconds=60)
    case = Case("vgg16", "caffe", 2, threads=1, budget=budget)
    folder = tmp_path / "job"
    folder.mkdir()
    (folder / "job.json").write_text(to_json(Job("long", case, environment={"GLOG_minloglevel": "2"})))
    reading, writing = os.pipe()
    command = [caffe_python, put_worker(folder, tmp_path), folder]
    worker = subprocess.Popen(command, pass_fds=(writing,), env={**os.environ, "STEPTIME_EVENTS_FD": str(writing)})
    os.close(writing)
    beats, measuring = [], 0.0
    with os.fdopen(reading) as events:
        for line in events:
            event = json.loads(line)
            measuring = time.monotonic() if event.get("name") == "measure" else measuring
            if event["event"] == "alive" and measuring:
                beats.append(time.monotonic() - measuring)
    step = time.monotonic() - measuring
    assert worker.wait() == 0
    assert step < 2.5 or len(beats) >= step / 5, f"{len(beats)} beats in {step:.1f} s"


@real
def test_doctor_is_green(steptime, caffe_python):
    done = steptime("doctor", "caffe", "--python", caffe_python, "--json", timeout=300)
    assert done.code == 0 and done.json[0]["works"] is True
