"""The operators on sequences in JAX: (batch, positions, width)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from steptime.core.backends.attention import rotation
from steptime.core.backends.translate import OperatorTable
from steptime.core.models import ops

TABLE = OperatorTable("jax")


@TABLE.entry(ops.LayerNorm)
def layer_norm(op: ops.LayerNorm, p: Any, xs: Any, ctx: Any) -> Any:
    import jax.numpy as jnp
    from jax import lax

    (x,) = xs
    wide = x.astype(p["gamma"].dtype)
    mean = wide.mean(-1, keepdims=True)
    variance = jnp.maximum(jnp.square(wide).mean(-1, keepdims=True) - jnp.square(mean), 0)
    return ((wide - mean) * (lax.rsqrt(variance + op.epsilon) * p["gamma"]) + p["beta"]).astype(x.dtype)


@TABLE.entry(ops.RMSNorm)
def rms_norm(op: ops.RMSNorm, p: Any, xs: Any, ctx: Any) -> Any:
    import jax.numpy as jnp
    from jax import lax

    (x,) = xs
    wide = x.astype(p["gamma"].dtype)
    return (wide * (lax.rsqrt(jnp.square(wide).mean(-1, keepdims=True) + op.epsilon) * p["gamma"])).astype(x.dtype)


@TABLE.entry(ops.Embedding)
def embedding(op: ops.Embedding, p: Any, xs: Any, ctx: Any) -> Any:
    return p["table"][xs[0]].astype(ctx.dtype)


@TABLE.entry(ops.TiedDense)
def tied_dense(op: ops.TiedDense, p: Any, xs: Any, ctx: Any) -> Any:
    (x,) = xs
    y = x @ p["table"].astype(x.dtype).T
    return y + p["bias"].astype(x.dtype) if op.bias else y


@TABLE.entry(ops.PositionEmbedding)
def position_embedding(op: ops.PositionEmbedding, p: Any, xs: Any, ctx: Any) -> Any:
    (x,) = xs
    return x + p["table"][: x.shape[1]].astype(x.dtype)


@TABLE.entry(ops.SegmentEmbedding)
def segment_embedding(op: ops.SegmentEmbedding, p: Any, xs: Any, ctx: Any) -> Any:
    return xs[0] + p["table"][0].astype(xs[0].dtype)


@TABLE.entry(ops.ClassToken)
def class_token(op: ops.ClassToken, p: Any, xs: Any, ctx: Any) -> Any:
    import jax.numpy as jnp

    (x,) = xs
    return jnp.concatenate([jnp.broadcast_to(p["token"].astype(x.dtype), (x.shape[0], 1, x.shape[2])), x], 1)


@TABLE.entry(ops.Tokens)
def tokens(op: ops.Tokens, p: Any, xs: Any, ctx: Any) -> Any:
    (x,) = xs
    return x.reshape(x.shape[0], -1, x.shape[3])


@TABLE.entry(ops.Select)
def select(op: ops.Select, p: Any, xs: Any, ctx: Any) -> Any:
    return xs[0][:, op.index]


@TABLE.entry(ops.Attention)
def attention(op: ops.Attention, p: Any, xs: Any, ctx: Any) -> Any:
    """As jax.nn.dot_product_attention does it, which takes its scores in single precision even of doubles."""
    import jax
    import jax.numpy as jnp

    queries, keys, head = op.widths(*(x.shape[1:] for x in xs))
    parts = xs if len(xs) == 3 else jnp.split(xs[0], (queries, queries + keys), -1)
    q, k, v = (x.reshape(*x.shape[:2], -1, head) for x in parts)
    if op.rope_base:
        q, k = _rotate(op.rope_base, q), _rotate(op.rope_base, k)
    batch, length = q.shape[:2]
    q = q.reshape(batch, length, op.groups, -1, head)
    wide = jnp.promote_types(q.dtype, jnp.float32)
    scores = jnp.einsum("bqgrh,bkgh->bgrqk", q, k, preferred_element_type=wide) * (1 / math.sqrt(head))
    if op.causal:
        scores = jnp.where(np.tri(length, dtype=bool), scores, -jnp.inf)
    shares = jax.nn.softmax(scores).astype(q.dtype)
    return jnp.einsum("bgrqk,bkgh->bqgrh", shares, v).reshape(batch, length, -1)


def _rotate(base: float, x: Any) -> Any:
    """Rotary embedding of (batch, positions, heads, width); the angles are constants of the program."""
    import jax.numpy as jnp

    half = x.shape[3] // 2
    cosine, sine = (part.astype(x.dtype)[:, None, :half] for part in rotation(base, x.shape[1], x.shape[3]))
    first, second = jnp.split(x, 2, -1)
    return jnp.concatenate([first * cosine - second * sine, second * cosine + first * sine], -1)
