import pytest

from steptime.core.schema import Profile
from steptime.importing.recognise import read
from steptime.importing.timeline import MOST_ENTRIES, Call, covered_seconds, profile_of
from tests.importing.test_table import DATA

TRACES = DATA / "traces"


def entries(profile: Profile) -> dict[tuple[str, str], tuple[int, float, float, float]]:
    return {
        (e.kind, e.name): (e.calls, *(round(v, 9) for v in (e.total_seconds, e.self_seconds, e.share))) for e in profile.entries
    }


CALLS = [
    Call("operator", "linear", 1, 0.0, 10.0),
    Call("operator", "addmm", 1, 1.0, 7.0),
    Call("operator", "copy_", 1, 2.0, 4.0),
    Call("operator", "addmm", 1, 8.0, 9.0),
    Call("operator", "relu", 2, 0.0, 3.0),
    Call("kernel", "sgemm", "stream 7", 2.0, 5.0),
    Call("kernel", "sgemm", "stream 9", 4.0, 6.0),
    Call("copy", "HtoD", "stream 7", 11.0, 12.0),
]


def test_self_time_is_without_what_was_called_and_shares_are_of_their_kind():
    found = profile_of("test", CALLS, 3)
    assert entries(found) == {
        ("operator", "linear"): (1, 10.0, 3.0, round(3 / 13, 9)),
        ("operator", "addmm"): (2, 7.0, 5.0, round(5 / 13, 9)),
        ("operator", "copy_"): (1, 2.0, 2.0, round(2 / 13, 9)),
        ("operator", "relu"): (1, 3.0, 3.0, round(3 / 13, 9)),
        ("kernel", "sgemm"): (2, 5.0, 5.0, 1.0),
        ("copy", "HtoD"): (1, 1.0, 1.0, 1.0),
    }
    assert [e.name for e in found.entries[:2]] == ["addmm", "linear"], "most first"
    assert found.span_seconds == 12.0 and found.steps == 3
    assert found.busy_seconds == {"operator": 10.0, "kernel": 4.0, "copy": 1.0}
    assert found.device_busy_share == pytest.approx(5 / 12)


def test_without_a_device_there_is_no_share_of_it():
    assert profile_of("test", CALLS[:4], 0).device_busy_share is None


def test_what_is_not_kept_is_counted_and_still_has_its_share():
    calls = [Call("kernel", f"k{i}", 0, float(i), i + 1.0) for i in range(MOST_ENTRIES * 2)]
    found = profile_of("test", calls, 0)
    assert len(found.entries) == MOST_ENTRIES and found.left_out == {"kernel": MOST_ENTRIES}
    assert sum(e.share for e in found.entries) == pytest.approx(0.5)


def test_time_in_which_something_ran_counts_once():
    assert covered_seconds([(0, 2), (1, 3), (5, 6), (5.5, 5.7)]) == 4
    assert covered_seconds([]) == 0


def test_a_trace_becomes_a_record_with_a_profile(imported):
    (record,) = imported("trace.json").records
    assert record.profile and record.profile.source == "Kineto"
    assert {e.kind for e in record.profile.entries} >= {"kernel", "operator"}
    assert record.printed
    assert record.printed.others["device_busy_share"] == pytest.approx(record.profile.device_busy_share)


@pytest.mark.real
@pytest.mark.skipif(not TRACES.is_dir(), reason=f"no real traces in {TRACES}")
def test_a_real_trace_says_what_pytorch_was_busy_with():
    (path,) = (TRACES / "kineto").glob("samples__resnet50_num_workers_0__*.gz")
    (record,) = read(path).records
    assert record.profile
    kernels = [e for e in record.profile.entries if e.kind == "kernel"]
    operators = {e.name: e for e in record.profile.entries if e.kind == "operator"}
    assert 0 < kernels[0].self_seconds == pytest.approx(kernels[0].total_seconds)
    assert "aten::conv2d" in operators or "aten::cudnn_convolution" in operators
    assert 0 < record.profile.device_busy_share < 1
    for kind, busy in record.profile.busy_seconds.items():
        assert 0 < busy <= record.profile.span_seconds, kind
