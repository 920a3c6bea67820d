import dataclasses
import json
import pickle

import duckdb
import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.core.schema import (
    FAILURES,
    PHASES,
    PRECISIONS,
    VERDICTS,
    Budget,
    Case,
    Contention,
    Job,
    JobKind,
    Phase,
    Precision,
    Profile,
    ProfileEntry,
    Record,
    Status,
    StopReason,
    Verdict,
    case_key,
    from_json,
    option_value,
    to_json,
)
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


WORDS = [Status, Verdict, StopReason, Phase, Precision, JobKind]


@pytest.mark.parametrize("word", [member for kind in WORDS for member in (*kind, kind("of another tool"), kind(""))], ids=repr)
def test_a_member_of_a_closed_set_is_its_text_wherever_it_goes(word):
    text = word.value
    assert word == text and hash(word) == hash(text) and {word: 1}[text] == 1 and sorted([word, "a"]) == sorted([text, "a"])
    assert repr(word) == repr(text), "ids of imported records are made of it"
    assert f"{word}" == str(word) == "".join([word]) == text and f"{word:>20}" == f"{text:>20}"
    assert json.dumps({word: word}) == json.dumps({text: text}) == msgspec.json.encode({word: word}).decode().replace(":", ": ")
    assert pickle.loads(pickle.dumps(word)) == text and type(pickle.loads(pickle.dumps(word))) is type(word)
    assert np.array([word]).tolist() == np.array([word], dtype=object).tolist() == [text]
    words = {"word": np.array([word], dtype=object)}
    assert duckdb.connect().execute("select word, ? from words", [word]).fetchall() == [(text, text)] and words


def test_words_that_are_not_listed_are_read_and_kept_but_are_no_members():
    record = dataclasses.replace(
        measured(), case=Case("m", "b", 1, phase="", precision="amp"), contention=Contention("crowded", "", 1.0, 1.0, 1.0, 0)
    )
    for read in (msgspec.json.decode(to_json(record).encode(), type=Record), from_json(Record, to_json(record))):
        assert read == record and to_json(read) == to_json(record) == msgspec.json.encode(read).decode()
        assert type(read.case.phase) is Phase and read.case.phase not in PHASES
        assert type(read.contention.verdict) is Verdict and read.contention.verdict not in VERDICTS


def test_the_lists_of_words_come_from_their_enums_in_order():
    assert (Status.OK, *FAILURES) == tuple(Status) and "ok" not in FAILURES
    assert PHASES == ("training", "inference") and PRECISIONS[:2] == ("fp64", "fp32") and VERDICTS[0] == "clean"
    assert not list(Phase)[2:], "a word that was read does not join them"
