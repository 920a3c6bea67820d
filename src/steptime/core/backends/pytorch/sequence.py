"""The operators on sequences in PyTorch: (batch, positions, width)."""

from __future__ import annotations

from typing import Any, Callable

from steptime.core.backends.attention import rotation
from steptime.core.backends.pytorch.layer import Hint, Layer, function_module, same
from steptime.core.models import ops


def layer_norm(op: ops.LayerNorm, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    import torch

    norm = torch.nn.LayerNorm(shapes[0][-1], op.epsilon)
    return Layer(norm, {"gamma": (norm, "weight", same, same), "beta": (norm, "bias", same, same)})


def rms_norm(op: ops.RMSNorm, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    import torch

    norm = torch.nn.RMSNorm(shapes[0][-1], op.epsilon)
    return Layer(norm, {"gamma": (norm, "weight", same, same)})


def embedding(op: ops.Embedding, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    import torch

    table = torch.nn.Embedding(op.vocabulary, op.units)
    return Layer(table, {"table": (table, "weight", same, same)})


def tied_dense(op: ops.TiedDense, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    import torch

    linear = torch.nn.Linear(shapes[0][-1], op.units, op.bias)
    linear.weight = hint.built[op.embedding].module.weight
    return Layer(linear, {"bias": (linear, "bias", same, same)} if op.bias else {})


def position_embedding(op: ops.PositionEmbedding, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    length, width = shapes[0]
    return _learned("table", (op.positions, width), lambda x, table: x + table[:length])


def segment_embedding(op: ops.SegmentEmbedding, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    return _learned("table", (op.segments, shapes[0][1]), lambda x, table: x + table[0])


def class_token(op: ops.ClassToken, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    import torch

    return _learned("token", shapes[0][1:], lambda x, token: torch.cat([token.expand(x.shape[0], 1, -1), x], 1))


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
    return Layer(module, {name: (module, "weight", same, same)})


def tokens(op: ops.Tokens, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    return Layer(function_module(lambda x: x.flatten(2).transpose(1, 2)))


def select(op: ops.Select, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    return Layer(function_module(lambda x: x[:, op.index]))


def attention(op: ops.Attention, shapes: tuple[ops.Shape, ...], hint: Hint) -> Layer:
    import torch

    queries, keys, head = op.widths(*shapes)
    attend = torch.nn.functional.scaled_dot_product_attention
    grouped = {"enable_gqa": True} if op.groups != op.heads else {}

    class Attention(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.turn = _rotation(op.rope_base, shapes[0][0], head) if op.rope_base else torch.nn.Identity()

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


TABLE: dict[type, Callable[[Any, tuple[ops.Shape, ...], Any], Layer]] = {
    ops.LayerNorm: layer_norm,
    ops.RMSNorm: rms_norm,
    ops.Embedding: embedding,
    ops.TiedDense: tied_dense,
    ops.PositionEmbedding: position_embedding,
    ops.SegmentEmbedding: segment_embedding,
    ops.ClassToken: class_token,
    ops.Tokens: tokens,
    ops.Select: select,
    ops.Attention: attention,
}
