"""The operators on sequences in PyTorch: (batch, positions, width)."""

from __future__ import annotations

from typing import Any, Callable

from steptime.core.backends.attention import rotation
from steptime.core.backends.pytorch.layer import TorchPlace, function_module
from steptime.core.backends.translate import Layer, Link, OperatorTable
from steptime.core.models import ops

TABLE = OperatorTable("pytorch")


@TABLE.entry(ops.LayerNorm)
def layer_norm(place: TorchPlace) -> Layer:
    import torch

    norm = torch.nn.LayerNorm(place.shapes[0][-1], place.op.epsilon)
    return Layer(norm, {"gamma": Link((norm, "weight")), "beta": Link((norm, "bias"))})


@TABLE.entry(ops.RMSNorm)
def rms_norm(place: TorchPlace) -> Layer:
    import torch

    norm = torch.nn.RMSNorm(place.shapes[0][-1], place.op.epsilon)
    return Layer(norm, {"gamma": Link((norm, "weight"))})


@TABLE.entry(ops.Embedding)
def embedding(place: TorchPlace) -> Layer:
    import torch

    op = place.op
    table = torch.nn.Embedding(op.vocabulary, op.units)
    return Layer(table, {"table": Link((table, "weight"))})


@TABLE.entry(ops.TiedDense)
def tied_dense(place: TorchPlace) -> Layer:
    import torch

    op = place.op
    linear = torch.nn.Linear(place.shapes[0][-1], op.units, op.bias)
    linear.weight = place.built[op.embedding].module.weight
    return Layer(linear, {"bias": Link((linear, "bias"))} if op.bias else {})


@TABLE.entry(ops.PositionEmbedding)
def position_embedding(place: TorchPlace) -> Layer:
    length, width = place.shapes[0]
    return _learned("table", (place.op.positions, width), lambda x, table: x + table[:length])


@TABLE.entry(ops.SegmentEmbedding)
def segment_embedding(place: TorchPlace) -> Layer:
    return _learned("table", (place.op.segments, place.shapes[0][1]), lambda x, table: x + table[0])


@TABLE.entry(ops.ClassToken)
def class_token(place: TorchPlace) -> Layer:
    import torch

    return _learned("token", place.shapes[0][1:], lambda x, token: torch.cat([token.expand(x.shape[0], 1, -1), x], 1))


def _learned(name: str, shape: ops.Shape, function: Callable[[Any, Any], Any]) -> Layer:
    """A module with one parameter, which the function gets beside the input."""
    import torch

    class Learned(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.empty(shape))

        def forward(self, x: Any) -> Any:
            return function(x, self.weight)

    module = Learned()
    return Layer(module, {name: Link((module, "weight"))})


@TABLE.entry(ops.Tokens)
def tokens(place: TorchPlace) -> Layer:
    return Layer(function_module(lambda x: x.flatten(2).transpose(1, 2)))


@TABLE.entry(ops.Select)
def select(place: TorchPlace) -> Layer:
    index = place.op.index
    return Layer(function_module(lambda x: x[:, index]))


@TABLE.entry(ops.Attention)
def attention(place: TorchPlace) -> Layer:
    import torch

    op = place.op
    queries, keys, head = op.widths(*place.shapes)
    attend = torch.nn.functional.scaled_dot_product_attention
    grouped = {"enable_gqa": True} if op.groups != op.heads else {}

    class Attention(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.turn = _rotation(op.rope_base, place.shapes[0][0], head) if op.rope_base else torch.nn.Identity()

        def forward(self, *inputs: Any) -> Any:
            parts = inputs if len(inputs) == 3 else inputs[0].split((queries, keys, keys), -1)
            q, k, v = (x.unflatten(-1, (-1, head)).transpose(1, 2) for x in parts)
            y = attend(self.turn(q), self.turn(k), v, is_causal=op.causal, **grouped)
            return y.transpose(1, 2).flatten(2)

    return Layer(Attention())


def _rotation(base: float, length: int, head: int) -> Any:
    """Rotary embedding: the angles are computed once, in the precision of a double."""
    import torch

    class Rotation(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            for name, part in zip(("cosine", "sine"), rotation(base, length, head)):
                self.register_buffer(name, torch.tensor(part), persistent=False)

        def forward(self, x: Any) -> Any:
            first, second = x.chunk(2, -1)
            return x * self.cosine + torch.cat((-second, first), -1) * self.sine

    return Rotation()
