"""The submission journal: what is on disk is all that is known, and nobody needs to have written it whole."""

from __future__ import annotations

import json

import pytest

from steptime.schedulers.journal import Entry, SubmissionJournal

ENTRIES = [Entry(f"key{i}", f"case-{i}", f"r{i}", 900.0) for i in range(3)]


@pytest.fixture
def journal(tmp_path):
    return SubmissionJournal(tmp_path)


def test_an_intent_is_open_until_somebody_knows_what_became_of_it(journal):
    first, second, third = (journal.open("array-001", ENTRIES, True, "1 node") for _ in range(3))
    assert len({first.name, second.name, third.name}) == 3, "a name is used once"
    assert all(map(journal.is_open, (first, second, third)))
    journal.accept(first, "17")
    journal.refuse(second, "no such partition")
    journal.abandon(third, "cancelled")
    assert not any(map(journal.is_open, (first, second, third)))
    assert (journal.job(first), journal.refusal(second), journal.is_abandoned(third)) == ("17", "no such partition", True)


def test_an_accepted_submission_has_an_attempt_at_each_of_its_cases(journal):
    array, single = journal.open("array-001", ENTRIES, True, "1 node"), journal.open("case-0", ENTRIES[:1], False, "1 node")
    assert journal.attempts(array) == []
    journal.accept(array, "17")
    journal.accept(single, "18")
    assert [(a.job, a.record_id, a.folder(journal.sweep_folder).name) for a in journal.attempts(array)] == [
        (f"17_{i}", f"r{i}-17_{i}", f"try-17_{i}") for i in range(3)
    ]
    assert [a.job for a in journal.attempts(single)] == ["18"]


def test_submissions_are_read_in_the_order_of_their_time_and_a_torn_one_is_left_out(journal):
    names = [journal.open("case-0", ENTRIES[:1], False, "1 node").name for _ in range(3)]
    for name, created in zip(names, ("2026-03", "2026-01", "2026-02"), strict=True):
        path = journal.sweep_folder / "submissions" / f"{name}.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "created": created}))
    (journal.sweep_folder / "submissions" / "torn.json").write_text('{"name": "to')
    assert [submission.name for submission in journal.all()] == [names[1], names[2], names[0]]


def test_a_sweep_that_submitted_nothing_has_an_empty_journal(journal):
    assert journal.all() == []
