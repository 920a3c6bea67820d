"""Files that are not what they should be are told apart in one line; good ones are read as they are."""

import gzip

import numpy as np
import pytest

from steptime.core.data.dataset import read_split, split_for, splits_in
from steptime.core.errors import DataError
from tests.core.data.idx import idx_bytes, write_set


def problem_of(folder):
    with pytest.raises(DataError) as caught:
        read_split(splits_in(folder)["train"])
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_images_and_labels_are_those_of_the_files(tmp_path):
    images, labels = write_set(tmp_path)
    found = read_split(splits_in(tmp_path)["train"])
    assert found.image_shape == (28, 28, 1)
    assert np.array_equal(found.images[..., 0], images) and np.array_equal(found.labels, labels)


def test_a_truncated_file_is_named_with_its_sizes(tmp_path):
    write_set(tmp_path)
    path = tmp_path / "train-images-idx3-ubyte"
    path.write_bytes(path.read_bytes()[:-5])
    assert (
        "train-images-idx3-ubyte is truncated: its header says 24 x 28 x 28, which takes 18832 bytes, and it has 18827"
        in problem_of(tmp_path)
    )


@pytest.mark.parametrize("content", [b"", b"\0\0", b"\x1f\x8b\x08\x00", b"<!DOCTYPE html>", b"\0\0\x08\x07" + bytes(40)])
def test_what_is_not_idx_is_said_not_to_be(tmp_path, content):
    write_set(tmp_path)
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(content)
    assert "is not an IDX file: it begins with" in problem_of(tmp_path)


def test_a_header_that_is_cut_off_is_truncated(tmp_path):
    write_set(tmp_path)
    (tmp_path / "train-images-idx3-ubyte").write_bytes(b"\0\0\x08\x03\0\0")
    assert "it ends within its header" in problem_of(tmp_path)


def test_a_header_that_claims_more_than_any_disk_holds_is_only_a_truncated_file(tmp_path):
    write_set(tmp_path)
    (tmp_path / "train-images-idx3-ubyte").write_bytes(b"\0\0\x08\x03" + b"\xff" * 12)
    assert "is truncated" in problem_of(tmp_path)


def test_images_without_as_many_labels_are_refused(tmp_path):
    write_set(tmp_path)
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(idx_bytes(np.zeros(23, np.uint8)))
    assert "has 24 images and train-labels-idx1-ubyte 23 labels" in problem_of(tmp_path)


def test_labels_in_the_place_of_images_are_refused(tmp_path):
    write_set(tmp_path)
    (tmp_path / "train-images-idx3-ubyte").write_bytes(idx_bytes(np.zeros(24, np.uint8)))
    assert "holds 24 values of type uint8, not images" in problem_of(tmp_path)


def test_images_without_labels_and_folders_without_either_are_refused(tmp_path):
    assert "has no data that steptime reads" in problem_of(tmp_path)
    write_set(tmp_path)
    (tmp_path / "train-labels-idx1-ubyte").unlink()
    assert "has train-images-idx3-ubyte and no labels of the train split" in problem_of(tmp_path)


def test_arrays_of_numpy_are_read_too_and_pickles_are_not(tmp_path):
    np.save(tmp_path / "train-images.npy", np.ones((4, 8, 8, 3), np.float32))
    np.save(tmp_path / "train-labels.npy", np.arange(4))
    assert read_split(splits_in(tmp_path)["train"]).image_shape == (8, 8, 3)
    np.save(tmp_path / "train-labels.npy", np.array([{"a": 1}] * 4, dtype=object), allow_pickle=True)
    assert "is not a whole NPY file" in problem_of(tmp_path)


def test_a_plain_file_is_preferred_to_its_compressed_copy_and_tests_are_for_inference(tmp_path):
    write_set(tmp_path)
    write_set(tmp_path, packed=True)
    (tmp_path / "t10k-images.idx3-ubyte").write_bytes(b"")
    (tmp_path / "t10k-labels.idx1-ubyte.gz").write_bytes(gzip.compress(b""))
    splits = splits_in(tmp_path)
    assert [p.name for p in splits["train"].paths] == ["train-images-idx3-ubyte", "train-labels-idx1-ubyte"]
    assert split_for("training", splits) == splits["train"] and split_for("inference", splits) == splits["test"]
