"""Graphs as JSON: nothing that a worker in another language needs is left to guess."""

import json

import pytest

from steptime.core.models import zoo
from steptime.core.models.portable import portable


@pytest.mark.parametrize("name", ["mnist_cnn", "squeezenet", "gpt2_small", "vit_b16", "mobilenet_v2"])
def test_a_graph_survives_json_with_all_of_its_nodes_and_parameters(name):
    graph = zoo.build(name, {})
    found = json.loads(json.dumps(portable(graph), allow_nan=False))
    assert [node["name"] for node in found["nodes"]] == [node.name for node in graph.nodes]
    arrays = {f"{node['name']}/{p['name']}": p["shape"] for node in found["nodes"] for p in node["parameters"]}
    assert arrays == {key: list(p.shape) for key, p in graph.parameters.items()}
    assert found["flops_per_sample"] == {"training": graph.flops_training, "inference": graph.flops_forward}


def test_padding_is_resolved_to_pixels():
    conv = next(n for n in portable(zoo.build("mnist_cnn", {}))["nodes"] if n["name"] == "conv1")
    assert conv["attributes"]["padding"] == "same"
    assert conv["window"]["padding"] == ((2, 2), (2, 2))


def test_a_shared_parameter_names_its_owner():
    (tied,) = (n for n in portable(zoo.build("gpt2_small", {}))["nodes"] if "shared" in n)
    assert tied["shared"]["table"].endswith("/table")
