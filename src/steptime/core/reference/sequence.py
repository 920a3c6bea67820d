"""Embeddings and what moves positions."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from steptime.core.models import ops
from steptime.core.reference.kernel import Array, Context, Kernels, Weights


def embedding_forward(op: ops.Embedding, p: Weights, xs: list[Array], ctx: Context) -> tuple[Array, Any]:
    return p["table"][xs[0]], xs[0]


def embedding_backward(op: ops.Embedding, p: Weights, saved: Any, dy: Array) -> tuple[list[Optional[Array]], Weights]:
    gradient = np.zeros_like(p["table"])
    np.add.at(gradient, saved.reshape(-1), dy.reshape(-1, dy.shape[-1]))
    return [None], {"table": gradient}


def position_forward(op: ops.PositionEmbedding, p: Weights, xs: list[Array], ctx: Context) -> tuple[Array, Any]:
    return xs[0] + p["table"][: xs[0].shape[1]], None


def position_backward(op: ops.PositionEmbedding, p: Weights, saved: Any, dy: Array) -> tuple[list[Optional[Array]], Weights]:
    gradient = np.zeros_like(p["table"])
    gradient[: dy.shape[1]] = dy.sum(0)
    return [dy], {"table": gradient}


def segment_forward(op: ops.SegmentEmbedding, p: Weights, xs: list[Array], ctx: Context) -> tuple[Array, Any]:
    return xs[0] + p["table"][0], None


def segment_backward(op: ops.SegmentEmbedding, p: Weights, saved: Any, dy: Array) -> tuple[list[Optional[Array]], Weights]:
    gradient = np.zeros_like(p["table"])
    gradient[0] = dy.sum((0, 1))
    return [dy], {"table": gradient}


def tokens_forward(op: ops.Tokens, p: Weights, xs: list[Array], ctx: Context) -> tuple[Array, Any]:
    return xs[0].reshape(xs[0].shape[0], -1, xs[0].shape[3]), xs[0].shape


def tokens_backward(op: ops.Tokens, p: Weights, saved: Any, dy: Array) -> tuple[list[Optional[Array]], Weights]:
    return [dy.reshape(saved)], {}


def class_token_forward(op: ops.ClassToken, p: Weights, xs: list[Array], ctx: Context) -> tuple[Array, Any]:
    token = np.broadcast_to(p["token"], (xs[0].shape[0], 1, xs[0].shape[2]))
    return np.concatenate([token, xs[0]], 1), None


def class_token_backward(op: ops.ClassToken, p: Weights, saved: Any, dy: Array) -> tuple[list[Optional[Array]], Weights]:
    return [dy[:, 1:]], {"token": dy[:, 0].sum(0)}


def select_forward(op: ops.Select, p: Weights, xs: list[Array], ctx: Context) -> tuple[Array, Any]:
    return xs[0][:, op.index], xs[0].shape


def select_backward(op: ops.Select, p: Weights, saved: Any, dy: Array) -> tuple[list[Optional[Array]], Weights]:
    dx = np.zeros(saved, dy.dtype)
    dx[:, op.index] = dy
    return [dx], {}


KERNELS: Kernels = {
    ops.Embedding: (embedding_forward, embedding_backward),
    ops.PositionEmbedding: (position_forward, position_backward),
    ops.SegmentEmbedding: (segment_forward, segment_backward),
    ops.Tokens: (tokens_forward, tokens_backward),
    ops.ClassToken: (class_token_forward, class_token_backward),
    ops.Select: (select_forward, select_backward),
}
