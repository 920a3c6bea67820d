"""Run by an interpreter with PyTorch, torchvision, timm and transformers: how far our models are from theirs, as JSON.

Both get the same random weights. Layers are matched in the order in which they run, and shapes must agree: if two layers
of one shape were confused, the outputs would not agree.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from steptime.core.backends.base import find
from steptime.core.models import ops, zoo
from steptime.core.models.graph import Graph, Node
from steptime.core.models.weights import batch_of
from steptime.core.schema import Case

# torchvision's compiled operators need CUDA libraries; declaring the two that its import looks up is enough for models.
LIBRARY = torch.library.Library("torchvision", "DEF")
for operator in ("nms", "qnms"):
    LIBRARY.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


def vision(name: str, **options: Any) -> Callable[[], Any]:
    return lambda: getattr(__import__("torchvision").models, name)(**options)


def timm(name: str) -> Callable[[], Any]:
    return lambda: __import__("timm").create_model(name)


def bert(kind: str) -> Callable[[], Any]:
    def make() -> Any:
        import transformers

        return getattr(transformers, kind)(transformers.BertConfig())

    return make


def gpt2() -> Any:
    import transformers

    return transformers.GPT2LMHeadModel(transformers.GPT2Config())


LLAMA = {"layers": 3, "width": 128, "heads": 8, "kv_heads": 2, "hidden": 200, "vocabulary": 500, "sequence": 40}


def llama() -> Any:
    import transformers

    sizes = {"num_hidden_layers": 3, "hidden_size": 128, "num_attention_heads": 8, "num_key_value_heads": 2}
    config = transformers.LlamaConfig(**sizes, intermediate_size=200, vocab_size=500, rms_norm_eps=1e-6)
    return transformers.LlamaForCausalLM(config)


def nasnetlarge() -> Any:
    """timm counts the zeros around strided average pools; the original code, which we follow, does not."""
    from timm.layers import pad_same

    class Uncounted(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            sums, counts = (torch.nn.functional.avg_pool2d(pad_same(v, [3, 3], [2, 2]), 3, 2) for v in (x, torch.ones_like(x)))
            return sums / counts

    model = __import__("timm").create_model("nasnetalarge")
    pools = [name for name, part in model.named_modules() if type(part).__name__ == "AvgPool2dSame"]
    assert pools
    for name in pools:
        model.set_submodule(name, Uncounted())
    return model


THEIRS: dict[str, tuple[dict[str, Any], Callable[[], Any]]] = {
    "alexnet_owt": ({}, vision("alexnet")),
    "bert_base": ({"sequence": 32}, bert("BertModel")),
    "bert_base mlm": ({"sequence": 32, "head": "mlm"}, bert("BertForMaskedLM")),
    "densenet121": ({}, vision("densenet121")),
    "efficientnet_b0": ({}, vision("efficientnet_b0")),
    "gpt2_small": ({"sequence": 32}, gpt2),
    "inception3": ({}, vision("inception_v3", aux_logits=False, init_weights=False)),
    "inception4": ({}, timm("inception_v4")),
    "inception_resnet_v2": ({}, timm("inception_resnet_v2")),
    "llama": (LLAMA, llama),
    "mobilenet_v1": ({}, timm("mobilenetv1_100")),
    "mobilenet_v2": ({}, vision("mobilenet_v2")),
    "nasnetlarge": ({}, nasnetlarge),
    "resnet34": ({}, vision("resnet34")),
    "resnet50": ({}, vision("resnet50")),
    "resnet50_v2": ({}, timm("resnetv2_50")),
    "resnet200": ({}, timm("resnet200")),
    "squeezenet": ({}, vision("squeezenet1_0")),
    "vgg16": ({}, vision("vgg16", init_weights=False)),
    "vit_b16": ({}, timm("vit_base_patch16_224")),
}


def randomise(module: Any) -> None:
    """Statistics, scales and shifts as after some training: at 0 and 1 a mistake would not show."""
    generator = torch.Generator().manual_seed(1)
    for part in module.modules():
        for name in ("running_mean", "bias", "weight", "running_var"):
            value = getattr(part, name, None)
            if isinstance(value, torch.Tensor) and value.ndim == 1:
                shift, scale = (1.0, 0.2) if name in ("weight", "running_var") else (0.0, 0.1)
                value.data.uniform_(shift - scale, shift + scale, generator=generator)


def run_order(module: Any, x: Any) -> tuple[list[Any], Any]:
    """The parts with parameters in the order in which they run, and the outputs."""
    found: list[Any] = []
    for part in module.modules():
        # The head of masked language modelling names the bias of its own linear layer a second time.
        direct = part is not module and list(part.parameters(recurse=False))
        if direct and not type(part).__name__.endswith("PredictionHead"):
            part.register_forward_hook(lambda part, *_: found.append(part))
    with torch.inference_mode():
        outputs = module.eval()(x)
    for name in ("pooler_output", "logits"):
        outputs = getattr(outputs, name, outputs)
    return found, outputs


def array(tensor: Any) -> np.ndarray:
    return tensor.detach().numpy()


def translated(graph: Graph, node: Node, part: Any) -> Iterator[tuple[str, np.ndarray]]:
    """Their arrays under our names and in our layout."""
    if isinstance(node.op, (ops.Embedding, ops.PositionEmbedding, ops.SegmentEmbedding)):
        yield "table", array(part.weight)
    elif isinstance(node.op, (ops.Conv2d, ops.Dense)):
        yield "kernel", kernel(graph, node, part)
        if part.bias is not None:
            yield "bias", array(part.bias)
    elif isinstance(node.op, ops.TiedDense):
        if part.bias is not None:
            yield "bias", array(part.bias)
    else:
        yield "gamma", array(part.weight)
        for ours, theirs in (("beta", "bias"), ("mean", "running_mean"), ("variance", "running_var")):
            if getattr(part, theirs, None) is not None:
                yield ours, array(getattr(part, theirs))


def kernel(graph: Graph, node: Node, part: Any) -> np.ndarray:
    weight = array(part.weight)
    if isinstance(node.op, ops.Conv2d):
        return weight.transpose(2, 3, 1, 0)
    if type(part).__name__ == "Conv1D":
        return weight
    weight = weight.reshape(weight.shape[:2]).T
    return weight[flattened_order(graph, node)] if weight.shape[0] > 4096 else weight


def flattened_order(graph: Graph, node: Node) -> np.ndarray:
    """Where our flattened (height, width, channels) lie in their flattened (channels, height, width)."""
    while not isinstance(node.op, ops.Flatten):
        node = graph.by_name[node.inputs[0]]
    height, width, channels = graph.input_shapes(node)[0]
    return np.arange(height * width * channels).reshape(channels, height, width).transpose(1, 2, 0).reshape(-1)


def weights_of(graph: Graph, module: Any, parts: list[Any]) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    if graph.name == "vit_b16":
        found = {"class_token/token": array(module.cls_token)[0, 0], "positions/table": array(module.pos_embed)[0]}
    nodes = [n for n in graph.nodes if (n.parameters or graph.shared(n)) and not any(k.startswith(n.name + "/") for k in found)]
    assert len(nodes) == len(parts), (len(nodes), len(parts))
    for node, part in zip(nodes, parts):
        found.update({f"{node.name}/{name}": value for name, value in translated(graph, node, part)})
    shapes = {name: p.shape for name, p in graph.parameters.items()}
    assert {name: value.shape for name, value in found.items()} == shapes
    return found


def compare(name: str) -> dict[str, float]:
    options, make = THEIRS[name]
    begin = time.perf_counter()
    graph = zoo.build(name.partition(" ")[0], options)
    inputs, labels = batch_of(graph, 2, 1)
    module = make()
    randomise(module)
    x = torch.from_numpy(inputs)
    parts, theirs = run_order(module, x.permute(0, 3, 1, 2) if x.ndim == 4 else x)
    weights = weights_of(graph, module, parts)
    case = Case(graph.name, "pytorch", 2, phase="inference")
    ours = find("pytorch").build(graph, case, weights, inputs, labels).outputs()
    truth = array(theirs).astype(np.float64)
    difference = float(np.abs(ours - truth).max() / np.abs(truth).max())
    return {"outputs": difference, "spread": float(truth.std()), "seconds": time.perf_counter() - begin}


def main() -> None:
    torch.manual_seed(1)
    torch.set_num_threads(1)
    results = {}
    for name in sys.argv[1:] or THEIRS:
        results[name] = compare(name)
        print(name, results[name], file=sys.stderr)
    print(json.dumps(results))


main()
