"""Image and label arrays in files: IDX (as MNIST has it) and NPY, mapped into memory and not read before they are needed."""

from __future__ import annotations

import math
import struct
from pathlib import Path
from typing import Any

import numpy as np

from steptime.core.errors import DataError

Array = np.ndarray[Any, Any]
IDX_TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
MOST_DIMENSIONS = 4


def read_array(path: Path) -> Array:
    """The array in a plain file, whole or refused; a view of the file."""
    try:
        return _read_npy(path) if path.suffix == ".npy" else _read_idx(path)
    except OSError as problem:
        raise DataError(f"cannot read {path}: {problem.strerror}") from None


def _read_idx(path: Path) -> Array:
    """Two zero bytes, a type, a count of dimensions, the dimensions as big-endian words, the values."""
    size = path.stat().st_size
    with open(path, "rb") as file:
        head = file.read(4 + 4 * MOST_DIMENSIONS)
    if len(head) < 4 or head[:2] != b"\0\0" or head[2] not in IDX_TYPES or not 1 <= head[3] <= MOST_DIMENSIONS:
        raise DataError(
            f"{path} is not an IDX file: it begins with {head[:4].hex(' ') or 'nothing'}, not with 00 00 08 01 or the like"
        )
    begin = 4 + 4 * head[3]
    if len(head) < begin:
        raise DataError(f"{path} is truncated: it ends within its header")
    shape = struct.unpack(f">{head[3]}I", head[4:begin])
    dtype = np.dtype(IDX_TYPES[head[2]])
    needed = begin + math.prod(shape) * dtype.itemsize
    if size != needed:
        what = "is truncated" if size < needed else "is too long"
        raise DataError(
            f"{path} {what}: its header says {' x '.join(map(str, shape))}, which takes {needed} bytes, and it has {size}"
        )
    if 0 in shape:
        raise DataError(f"{path} is empty: its header says {' x '.join(map(str, shape))}")
    return np.memmap(path, dtype, "r", begin, shape)


def _read_npy(path: Path) -> Array:
    try:
        array: Array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as problem:
        raise DataError(f"{path} is not a whole NPY file: {str(problem).splitlines()[0]}") from None
    if not isinstance(array, np.ndarray) or array.size == 0:
        raise DataError(f"{path} holds no array")
    return array
