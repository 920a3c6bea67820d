"""Operators on sequences: (positions, width)."""

from __future__ import annotations

from dataclasses import dataclass

from steptime.core.models.ops.base import Op, Parameter, Shape, rank

LAYOUT = "(positions, width)"


@dataclass(frozen=True)
class Embedding(Op):
    """(positions,) of indices to (positions, units): a row of the table each."""

    vocabulary: int
    units: int

    def output_shape(self, *inputs: Shape) -> Shape:
        (x,) = inputs
        rank(x, 1, "(positions,)")
        return (*x, self.units)

    def parameters(self, *inputs: Shape) -> tuple[Parameter, ...]:
        return (Parameter("table", (self.vocabulary, self.units), "small"),)


@dataclass(frozen=True)
class PositionEmbedding(Op):
    """Adds a learned vector for each position; the table may be longer than the sequence."""

    positions: int

    def output_shape(self, *inputs: Shape) -> Shape:
        (x,) = inputs
        rank(x, 2, LAYOUT)
        if x[0] > self.positions:
            raise ValueError(f"a sequence of {x[0]} is longer than the {self.positions} learned positions")
        return x

    def parameters(self, *inputs: Shape) -> tuple[Parameter, ...]:
        return (Parameter("table", (self.positions, inputs[0][-1]), "small"),)


@dataclass(frozen=True)
class SegmentEmbedding(Op):
    """Adds the learned vector of segment 0 to every position: the input is one segment of those that the table knows."""

    segments: int = 2

    def output_shape(self, *inputs: Shape) -> Shape:
        rank(inputs[0], 2, LAYOUT)
        return inputs[0]

    def parameters(self, *inputs: Shape) -> tuple[Parameter, ...]:
        return (Parameter("table", (self.segments, inputs[0][-1]), "small"),)


@dataclass(frozen=True)
class Tokens(Op):
    """(height, width, channels) to (height * width, channels), row by row."""

    def output_shape(self, *inputs: Shape) -> Shape:
        (x,) = inputs
        rank(x, 3, "(height, width, channels)")
        return (x[0] * x[1], x[2])


@dataclass(frozen=True)
class ClassToken(Op):
    """Puts a learned vector before the sequence."""

    def output_shape(self, *inputs: Shape) -> Shape:
        (x,) = inputs
        rank(x, 2, LAYOUT)
        return (x[0] + 1, x[1])

    def parameters(self, *inputs: Shape) -> tuple[Parameter, ...]:
        return (Parameter("token", (inputs[0][-1],), "small"),)


@dataclass(frozen=True)
class Select(Op):
    """The vector of one position."""

    index: int = 0

    def output_shape(self, *inputs: Shape) -> Shape:
        (x,) = inputs
        rank(x, 2, LAYOUT)
        if not 0 <= self.index < x[0]:
            raise ValueError(f"position {self.index} is not in a sequence of {x[0]}")
        return (x[1],)


@dataclass(frozen=True)
class Attention(Op):
    """softmax(Q K' / sqrt(head width)) V for each head; the projections are Dense operators around it.

    Inputs are queries, keys and values, or one tensor that holds all three side by side. With fewer `kv_heads` than
    heads, each key and value head serves a group of query heads. `rope_base` above 0 turns queries and keys by their
    position (rotary embedding; pairs are element i of the first and of the second half of a head). A causal mask hides
    later positions; its FLOPs are counted in full, as the counters that people compare with do.
    """

    heads: int
    kv_heads: int = 0
    """0: as many as heads"""
    causal: bool = False
    rope_base: float = 0.0

    arity = None

    @property
    def groups(self) -> int:
        return self.kv_heads or self.heads

    def widths(self, *inputs: Shape) -> tuple[int, int, int]:
        """Of all queries, of all keys (and of all values), and of one head."""
        if self.heads < 1 or self.groups < 1 or self.heads % self.groups:
            raise ValueError(f"{self.groups} key and value heads do not divide {self.heads} heads")
        if len(inputs) not in (1, 3) or any(len(x) != 2 for x in inputs) or len({x[0] for x in inputs}) != 1:
            raise ValueError(f"takes queries, keys and values of shape {LAYOUT}, or all in one, got {inputs}")
        head, rest = divmod(inputs[0][1], self.heads + (2 * self.groups if len(inputs) == 1 else 0))
        wanted = tuple(n * head for n in (self.heads, self.groups, self.groups))
        if rest or (len(inputs) == 3 and tuple(x[1] for x in inputs) != wanted) or (self.rope_base and head % 2):
            raise ValueError(f"{self.heads} heads and {self.groups} key and value heads do not divide the widths of {inputs}")
        return self.heads * head, self.groups * head, head

    def output_shape(self, *inputs: Shape) -> Shape:
        return (inputs[0][0], self.widths(*inputs)[0])

    def flops(self, *inputs: Shape) -> int:
        length = inputs[0][0]
        return 4 * length * length * self.widths(*inputs)[0]

    def backward_flops(self, needs_grad: tuple[bool, ...], *inputs: Shape) -> int:
        """Each of the two products has two factors: four products as large as one of the two, without recomputation."""
        return 2 * self.flops(*inputs) if any(needs_grad) else 0
