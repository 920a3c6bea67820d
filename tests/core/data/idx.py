"""Small data sets in MNIST's format, written by the tests that read them."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np


def idx_bytes(array: np.ndarray) -> bytes:
    kind = {"u1": 0x08, "f4": 0x0D}[array.dtype.str[1:]]
    return (
        struct.pack(f">BBBB{array.ndim}I", 0, 0, kind, array.ndim, *array.shape)
        + array.astype(array.dtype.newbyteorder(">")).tobytes()
    )


def write_set(
    folder: Path, count: int = 24, size: int = 28, classes: int = 10, packed: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Images whose first pixel is their number, and labels."""
    folder.mkdir(parents=True, exist_ok=True)
    images = np.random.RandomState(3).randint(0, 256, (count, size, size)).astype(np.uint8)
    images[:, 0, 0] = np.arange(count)
    labels = (np.arange(count) % classes).astype(np.uint8)
    for name, array in (("train-images-idx3-ubyte", images), ("train-labels-idx1-ubyte", labels)):
        content = idx_bytes(array)
        (folder / f"{name}.gz").write_bytes(gzip.compress(content)) if packed else (folder / name).write_bytes(content)
    return images, labels
