"""The closed set of operators.

An operator is a frozen dataclass of its attributes that knows, for given input shapes, its output shape, its
parameters and its cost. Shapes are those of one sample, without the batch; images are (height, width, channels);
sequences are (positions, width); kernels are (height, width, in, out); dense weights are (in, out). Backends translate.

FLOPs count the multiply-adds of convolutions and matrix products as 2, and nothing else, as the counters that
people compare with do. Normalisation, activation and pooling are cheap in FLOPs and dear in bytes.
"""

from steptime.core.models.ops.base import (
    Input,
    Op,
    Pair,
    Parameter,
    Shape,
    Shared,
    pair,
    rank,
)
from steptime.core.models.ops.dense import (
    Dense,
    TiedDense,
)
from steptime.core.models.ops.norm import (
    LRN,
    BatchNorm,
    LayerNorm,
    RMSNorm,
)
from steptime.core.models.ops.pointwise import (
    ACTIVATIONS,
    Activation,
    Add,
    Concat,
    Dropout,
    Flatten,
    Multiply,
    Scale,
)
from steptime.core.models.ops.sequence import (
    Attention,
    ClassToken,
    Embedding,
    PositionEmbedding,
    SegmentEmbedding,
    Select,
    Tokens,
)
from steptime.core.models.ops.window import (
    AvgPool,
    Conv2d,
    GlobalAvgPool,
    MaxPool,
    Pad,
    Padding,
    Pool,
    Window,
    resolve_padding,
)

__all__ = [
    "ACTIVATIONS",
    "LRN",
    "Activation",
    "Add",
    "Attention",
    "AvgPool",
    "BatchNorm",
    "ClassToken",
    "Concat",
    "Conv2d",
    "Dense",
    "Dropout",
    "Embedding",
    "Flatten",
    "GlobalAvgPool",
    "Input",
    "LayerNorm",
    "MaxPool",
    "Multiply",
    "Op",
    "Pad",
    "Padding",
    "Pair",
    "Parameter",
    "Pool",
    "PositionEmbedding",
    "RMSNorm",
    "Scale",
    "SegmentEmbedding",
    "Select",
    "Shape",
    "Shared",
    "TiedDense",
    "Tokens",
    "Window",
    "pair",
    "rank",
    "resolve_padding",
]
