"""A folder with a data set: which of its files are images and labels, and of what.

The names are those under which MNIST and its relatives are known (`train-images-idx3-ubyte`, `t10k-labels-idx1-ubyte`, with or
without `.gz`, a dot for a dash), or `train-images.npy` and so on for arrays. Files without such a beginning are training data.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from steptime.core.data.files import Array, read_array
from steptime.core.errors import DataError
from steptime.core.schema import Phase

NAME = re.compile(
    r"(?:(?P<split>train|training|t10k|test|val|validation)[-_.])?"
    r"(?P<what>images?|labels?)(?P<kind>[-_.]idx[1-4][-_.](?:ubyte|byte|short|int|float|double)|[-_.]ubyte|\.idx|\.npy)(?P<gz>\.gz)?"
)
TRAIN, TEST = "train", "test"
SPLITS = {None: TRAIN, "train": TRAIN, "training": TRAIN}


@dataclass(frozen=True)
class Split:
    images: Path
    labels: Path

    @property
    def paths(self) -> tuple[Path, Path]:
        return self.images, self.labels


@dataclass(frozen=True)
class Samples:
    """Arrays that belong together: images as height x width x channels, one label each."""

    images: Array
    labels: Array

    @property
    def image_shape(self) -> tuple[int, ...]:
        return tuple(self.images.shape[1:])


def splits_in(folder: Path) -> dict[str, Split]:
    """train and test, as far as they are there; a plain file is preferred to its compressed copy."""
    splits: dict[str, dict[str, Path]] = {}
    try:
        names = sorted((p for p in folder.iterdir() if p.is_file()), key=lambda p: p.suffix == ".gz", reverse=True)
    except OSError as problem:
        raise DataError(f"no data in {folder}: {problem.strerror}") from None
    for path in names:
        match = NAME.fullmatch(path.name)
        if match:
            splits.setdefault(SPLITS.get(match["split"], TEST), {})[match["what"].rstrip("s")] = path
    for split, files in splits.items():
        for missing in {"image", "label"} - set(files):
            there = next(iter(files.values())).name
            raise DataError(f"{folder} has {there} and no {missing}s of the {split} split to go with it")
    if not splits:
        raise DataError(
            f"{folder} has no data that steptime reads, such as train-images-idx3-ubyte or train-images.npy with labels"
        )
    return {split: Split(files["image"], files["label"]) for split, files in splits.items()}


def split_for(phase: str, splits: Mapping[str, Split]) -> Split:
    """Training reads the training part, inference the test part where there is one."""
    wanted = (TRAIN, TEST) if phase == Phase.TRAINING else (TEST, TRAIN)
    return next(splits[name] for name in wanted if name in splits)


def read_split(split: Split) -> Samples:
    """Of plain files; every image has one label, and shapes and types are such as images and labels have."""
    images, labels = read_array(split.images), read_array(split.labels)
    if images.ndim not in (3, 4) or (images.dtype != np.uint8 and images.dtype.kind != "f"):
        raise DataError(
            f"{split.images} holds {_words(images)}, not images: bytes or floats, count x height x width, perhaps x channels"
        )
    if labels.ndim != 1 or labels.dtype.kind not in "ui":
        raise DataError(f"{split.labels} holds {_words(labels)}, not one whole number per image")
    if len(images) != len(labels):
        raise DataError(
            f"{split.images.name} has {len(images)} images and {split.labels.name} {len(labels)} labels ({split.images.parent})"
        )
    if int(labels.min()) < 0:
        raise DataError(f"{split.labels} holds a negative label, {int(labels.min())}")
    return Samples(images if images.ndim == 4 else images[..., np.newaxis], labels.astype(np.int64))


def _words(array: Array) -> str:
    return f"{' x '.join(map(str, array.shape)) or 'one'} values of type {array.dtype.name}"
