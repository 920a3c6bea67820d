import dataclasses
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.core.schema import Budget, Case, Job, Profile, ProfileEntry, Record, case_key, from_json, option_value, to_json
from tests.core.stats.test_invariants import record as measured

TEXT = st.text(max_size=20)
OPTIONS = st.dictionaries(TEXT, st.one_of(st.integers(-(2**53), 2**53), st.booleans(), TEXT), max_size=3)
CASES = st.builds(
    Case,
    model=TEXT,
    backend=TEXT,
    batch=st.integers(1, 10**9),
    model_options=OPTIONS,
    backend_options=OPTIONS,
    labels=st.dictionaries(TEXT, TEXT, max_size=3),
    budget=st.builds(Budget, target=st.floats(1e-6, 0.9), max_steps=st.integers(1, 10**6)),
)


@given(CASES)
def test_what_is_written_is_read_back_by_both_halves(case):
    job = Job("id", case, environment={"A": "b"})
    assert from_json(Job, to_json(job)) == job
    assert msgspec.json.decode(to_json(job).encode(), type=Job) == job


def test_a_whole_record_survives_the_trip():
    record = measured()
    assert msgspec.json.decode(to_json(record).encode(), type=Record) == record
    assert from_json(Record, to_json(record)) == record
    assert json.loads(to_json(record)) == dataclasses.asdict(record)


def test_a_profile_survives_the_trip_too():
    entries = [ProfileEntry("conv2d", "operator", 3, 0.5, 0.25, 0.8), ProfileEntry("sgemm", "kernel", 3, 0.2, 0.2, 1.0)]
    profile = Profile("Kineto", entries, 1.5, {"kernel": 0.2}, 0.1, 3, {"operator": 7})
    record = dataclasses.replace(measured(), profile=profile)
    assert from_json(Record, to_json(record)) == record
    assert msgspec.json.decode(to_json(record).encode(), type=Record) == record


@given(CASES, st.dictionaries(TEXT, TEXT, max_size=3))
def test_labels_are_notes_and_do_not_make_another_case(case, labels):
    assert case_key(dataclasses.replace(case, labels=labels)) == case_key(case)
    assert case_key(dataclasses.replace(case, batch=case.batch + 1)) != case_key(case)


def test_figures_that_are_not_numbers_are_refused():
    with pytest.raises(ValueError, match="JSON"):
        to_json(dataclasses.replace(measured(), last_loss=float("nan")))


def test_an_older_reader_ignores_what_it_does_not_know():
    content = json.loads(to_json(Job("id", Case("m", "b", 1))))
    content["from_the_future"] = 1
    assert from_json(Job, json.dumps(content)).id == "id"


@pytest.mark.parametrize(
    ("text", "default", "value"),
    [("4", 1, 4), ("4", 1.0, 4.0), ("4", "", "4"), ("true", False, True), ("x", 1, "x"), ("nan", "", "nan"), ("1.5", 1, "1.5")],
)
def test_options_are_read_as_the_type_of_their_default(text, default, value):
    assert option_value(text, default) == value
    assert type(option_value(text, default)) is type(value)
