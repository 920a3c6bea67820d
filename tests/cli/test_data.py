"""`steptime data`, and cases that are fed with real data."""

import json

import pytest

from tests.core.data.idx import write_set

pytestmark = pytest.mark.usefixtures("known_machine")


def test_sets_are_listed_with_what_is_wrong_with_them(inside, home):
    write_set(home / "data" / "tiny")
    (home / "data" / "empty").mkdir()
    rows = {row["data"]: row for row in inside("data", "--json").json}
    assert rows["tiny"]["images"] == 24 and rows["tiny"]["shape"] == [28, 28, 1] and rows["tiny"]["split"] == "train"
    assert rows["mnist"]["problem"] == "not here: steptime data get mnist"
    assert "has no data that steptime reads" in rows["empty"]["problem"]
    assert "28 x 28 x 1" in inside("data").out


def test_bad_arguments_are_one_line(inside):
    for arguments, words in [
        (["data", "fetch"], "unknown action of `steptime data` 'fetch'; known: get, list"),
        (["data", "get"], "which data set? known: mnist"),
        (["data", "get", "imagenet"], "unknown data set to get 'imagenet'; known: mnist"),
        (["data", "list", "./nowhere"], "no such folder"),
    ]:
        done = inside(*arguments)
        assert done.code == 2 and words in done.err and len(done.err.splitlines()) == 1


def run(inside, *arguments):
    return inside(
        "run", "mnist_cnn", "-B", "fake", "--phase", "training", "--batch", "8", "--max-steps", "30", "--json", *arguments
    )


def test_a_case_is_fed_from_where_it_was_staged_and_the_record_says_so(inside, home, monkeypatch):
    write_set(home / "data" / "tiny")
    (home / "scratch").mkdir()
    monkeypatch.setenv("SCRATCH", str(home / "scratch"))
    options = ("-b", "step_ms=9", "-b", "feed_ms=1")
    (row,) = run(inside, "--data", "tiny", "--data-store", "scratch", *options).json
    assert (row["status"], row["data"], row["data_store"], round(row["batch_time_ms"], 6)) == ("ok", "real", "scratch", 10)
    record = json.loads(inside("show", row["id"], "--json", "--full").out)
    assert record["staging"]["folder"].startswith(str(home / "scratch")) and record["staging"]["bytes"] == 18864
    assert len(record["steps"]["data_seconds"]) == len(record["steps"]["seconds"])
    assert abs(record["steps"]["data_seconds"][-1] - 0.001) < 1e-9
    assert list((home / "scratch").iterdir()) == []
    shown = inside("show", row["id"]).out
    assert "1 ms, 10%" in shown and "--data tiny --data-store scratch" in shown


@pytest.mark.slow
def test_what_cannot_be_fed_is_unsupported_with_the_reason(inside, home, tmp_path):
    write_set(tmp_path / "set")
    (tmp_path / "set" / "train-labels-idx1-ubyte").write_bytes(b"nonsense")
    for arguments, words in [
        (("--data", "./set"), "is not an IDX file"),
        (("--data", "./nowhere"), "no such folder"),
        (("--data", "./set", "--data-store", "local"), "data store local: $LOCAL is not set here"),
        (("--data-store", "/nowhere"), "synthetic data are made in memory"),
    ]:
        (row,) = run(inside, *arguments).json
        assert row["status"] == "unsupported" and words in row["message"], row


def test_a_backend_that_cannot_be_fed_says_so():
    import pytest

    from steptime.core.backends.base import Backend
    from steptime.core.errors import Unsupported
    from steptime.core.schema import Case

    class Still(Backend):
        name = "still"

    with pytest.raises(Unsupported, match="still does not accept new batches"):
        Still().check(Case("mnist_cnn", "still", 8, data="mnist"))
