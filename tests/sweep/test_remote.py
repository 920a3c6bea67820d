"""A sweep on a site, without a cluster: whatever becomes of a submission or a job, each case gets its record, once."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from steptime.core.schema import Case, FailureCause, Status, Verdict, to_json
from steptime.schedulers.site_file import site_of
from steptime.store.files import Store
from steptime.store.record_search import records_of_sweep
from steptime.sweep import state
from steptime.sweep.remote import RemoteSweep, cancel_on_site
from steptime.sweep.remote_status import jobs_of
from steptime.sweep.run import Settings
from steptime.sweep.watcher import MessageWatcher
from tests.schedulers.fake import (
    FULL,
    LOSE_ANSWER,
    LOSE_REQUEST,
    REFUSE,
    FakeClock,
    FakeScheduler,
    attempts_of,
    deliver,
    measured,
)

NODE_FAILED = FailureCause(Status.NODE_FAILURE, "a node failed")
SITE = "retries = 2\n[arrays]\nat_least = 3\n"


class World:
    """One sweep, its scheduler and its clock. A new controller is what a person starts after the last one died."""

    def __init__(self, tmp_path, batches=(1,)):
        self.store = Store(tmp_path / "store")
        self.store.prepare()
        self.site = site_of(SITE, "test", "test.toml")
        self.sweep = state.begin(self.store, [Case("mlp", "fake", batch) for batch in batches], site=self.site)
        self.folder = state.folder_of(self.store, self.sweep)
        self.scheduler, self.clock, self.messages = FakeScheduler(), FakeClock(), []

    def controller(self, **settings):
        watcher = MessageWatcher(self.messages.append)
        settings = Settings(**{"contended_rounds": 0, **settings})
        return RemoteSweep(self.store, self.sweep, self.site, settings, watcher, self.scheduler, self.clock.pause, self.clock)

    def run(self, **settings):
        """To its end; the jobs that are there when the controller first pauses deliver, unless the test says otherwise."""
        if self.clock.during_pause is FakeClock.during_pause:
            self.clock.during_pause = self.deliver_all
        controller = self.controller(**settings)
        return [*controller.begin(), *controller.wait()]

    @property
    def journal(self):
        return self.controller().journal

    @property
    def statuses(self):
        return sorted(str(record.status) for record in records_of_sweep(self.store, self.sweep.id))

    def open_attempts(self):
        """Of jobs that the scheduler still has and that have not ended."""
        return [a for a in attempts_of(self.journal) if a.job in self.scheduler.jobs and not self.scheduler.jobs[a.job].ended]

    def deliver_all(self, verdict=Verdict.CLEAN):
        for attempt in self.open_attempts():
            deliver(self.store, self.folder, attempt, verdict)
            self.scheduler.jobs[attempt.job].end("COMPLETED")


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def test_each_case_is_submitted_once_and_gets_its_record(tmp_path):
    world = World(tmp_path, (1, 2))
    assert [record.status for record in world.run()] == ["ok", "ok"]
    assert len(world.scheduler.submitted) == 2
    assert [record.status for record in world.run()] == ["ok", "ok"], "a second controller shows the records that there are"
    assert len(world.scheduler.submitted) == 2


def test_a_submission_that_was_accepted_without_an_answer_is_not_made_twice(world):
    world.scheduler.answers = [LOSE_ANSWER]
    assert [record.status for record in world.run()] == ["ok"]
    assert len(world.scheduler.submitted) == 1


def test_a_submission_that_never_arrived_is_abandoned_and_made_again_under_another_name(world):
    world.scheduler.answers = [LOSE_REQUEST]
    assert [record.status for record in world.run()] == ["ok"]
    first, second = world.scheduler.submitted
    assert first != second and (world.folder / "submissions" / f"{first}.abandoned").exists()


def test_a_refusal_is_a_launch_failure_in_the_scheduler_s_words_and_final(world):
    world.scheduler.answers = [REFUSE]
    assert [(r.status, r.message) for r in world.run()] == [("launch_failed", "no such partition")]
    assert [r.status for r in world.run()] == ["launch_failed"]
    assert len(world.scheduler.submitted) == 1 and world.statuses == ["launch_failed"]
    assert [r.status for r in world.run(retry="failed")] == ["ok"]


def test_a_refusal_of_which_the_controller_died_becomes_a_record_later(world):
    world.scheduler.answers = [REFUSE]
    controller = world.controller()
    next(controller.begin())
    for path in world.store.paths():
        path.unlink()
    assert [r.message for r in world.run()] == ["no such partition"]


def test_what_a_full_scheduler_does_not_take_is_submitted_when_jobs_have_ended(tmp_path):
    world = World(tmp_path, (1, 2))
    world.scheduler.answers = ["accept", FULL, FULL]
    assert [record.status for record in world.run()] == ["ok", "ok"]
    assert len(world.scheduler.jobs) == 2
    assert world.messages.count("1 case waits to be submitted: job limit reached") == 1


def test_a_scheduler_that_is_full_without_a_job_of_ours_refuses(world):
    world.scheduler.answers = [FULL]
    assert [(r.status, r.message) for r in world.run()] == [("launch_failed", "job limit reached")]


def test_a_job_that_vanished_is_a_crash_of_which_nothing_is_known(world):
    world.clock.during_pause = world.scheduler.jobs.clear
    assert [(r.status, r.message) for r in world.run()] == [("crash", "how it ended is unknown")]


def test_a_record_that_comes_after_the_end_of_its_job_counts(world):
    late = []

    def ends_before_it_delivers():
        for attempt in world.open_attempts():
            world.scheduler.jobs[attempt.job].end("COMPLETED")
            late.append(attempt)
        if late and world.clock.now >= world.site.poll_seconds + 2.0:  # when the controller has seen the end
            deliver(world.store, world.folder, late.pop())

    world.clock.during_pause = ends_before_it_delivers
    assert [record.status for record in world.run()] == ["ok"]
    assert world.statuses == ["ok"]


def test_a_record_that_its_job_could_not_store_is_taken_from_its_folder(world):
    def leave_behind():
        for attempt in world.open_attempts():
            folder = attempt.folder(world.folder)
            folder.mkdir()
            (folder / "record.json").write_text(to_json(replace(measured(world.folder, attempt), id="unnamed", allocation=None)))
            (folder / "exit").write_text("0\n")
            world.scheduler.jobs[attempt.job].end("COMPLETED")

    world.clock.during_pause = leave_behind
    (record,) = world.run()
    (attempt,) = attempts_of(world.journal)
    assert (record.status, record.id, record.allocation.job) == ("ok", attempt.record_id, attempt.job)


def test_a_job_whose_environment_failed_is_a_launch_failure_with_the_line(world):
    def fail():
        for attempt in world.open_attempts():
            folder = attempt.folder(world.folder)
            folder.mkdir()
            (folder / "launch_failed").write_text("the environment failed with exit code 1 at: module load x\n")
            (folder / "exit").write_text("1\n")
            world.scheduler.jobs[attempt.job].end("FAILED")

    world.clock.during_pause = fail
    (record,) = world.run()
    assert (record.status, record.failure.exit_code) == ("launch_failed", 1)
    assert record.message == "the environment failed with exit code 1 at: module load x"


def test_a_failed_node_s_case_is_submitted_again_until_the_retries_are_used_up(world):
    def nodes_fail():
        for attempt in world.open_attempts():
            world.scheduler.jobs[attempt.job].end("NODE_FAIL", NODE_FAILED)

    world.clock.during_pause = nodes_fail
    assert [record.status for record in world.run()] == ["node_failure"] * 3
    assert world.statuses == ["node_failure"] * 3, "every attempt is a record"
    assert [record.status for record in world.run()] == ["node_failure"], "nobody tries a fourth time"
    assert len(world.scheduler.submitted) == 3


def test_a_case_whose_node_failed_while_nobody_waited_is_submitted_again(world):
    list(world.controller().begin())
    (job,) = world.scheduler.jobs.values()
    job.end("NODE_FAIL", NODE_FAILED)
    assert [record.status for record in world.run()] == ["node_failure", "ok"]


def test_tasks_of_an_array_end_each_in_its_own_way(tmp_path):
    world = World(tmp_path, (1, 2, 3, 4))

    def third_fails():
        jobs = world.scheduler.jobs
        for attempt in world.open_attempts():
            if attempt.job.endswith("_2"):
                jobs[attempt.job].end("TIMEOUT", FailureCause(Status.TIMEOUT, "too long"))
        world.deliver_all()

    world.clock.during_pause = third_fails
    found = {record.case.batch: record.status for record in world.run()}
    assert found == {1: "ok", 2: "ok", 3: "timeout", 4: "ok"}
    assert len(world.scheduler.submitted) == 1 and sorted(world.scheduler.jobs) == [f"101_{i}" for i in range(4)]


def test_a_job_that_would_wait_for_ever_is_cancelled(world):
    def hopeless():
        for job in world.scheduler.jobs.values():
            job.hopeless, job.reason = True, "PartitionTimeLimit"

    world.clock.during_pause = hopeless
    (record,) = world.run()
    assert (record.status, record.message) == ("launch_failed", "job 101 can never start: PartitionTimeLimit")
    assert world.scheduler.cancelled == ["101"]


def test_a_scheduler_that_is_away_is_asked_until_it_answers(world):
    list(world.controller().begin())
    world.scheduler.is_away = True
    away = iter(range(5))

    def comes_back():
        if next(away, None) is None:
            world.scheduler.is_away = False
            world.deliver_all()

    world.clock.during_pause = comes_back
    assert [record.status for record in world.run()] == ["ok"]
    assert world.messages.count("Fake does not answer (it is away); asking again") <= 1
    assert len(world.scheduler.submitted) == 1


def test_an_intent_whose_controller_died_is_looked_up_before_anything_is_submitted(world):
    list(world.controller().begin())
    (name,) = world.scheduler.submitted
    (world.folder / "submissions" / f"{name}.job").unlink()
    assert [record.status for record in world.run()] == ["ok"]
    assert world.scheduler.submitted == [name]


def test_the_intent_of_another_host_gets_time_to_be_answered(world):
    list(world.controller().begin())
    (name,) = world.scheduler.submitted
    intent, answer = (world.folder / "submissions" / f"{name}.{kind}" for kind in ("json", "job"))
    intent.write_text(json.dumps({**json.loads(intent.read_text()), "host": "elsewhere"}))
    answer.unlink()
    slow = dict(world.scheduler.jobs)
    world.scheduler.jobs.clear()  # it has not arrived yet

    def arrives():
        world.scheduler.jobs.update(slow)
        world.deliver_all()

    world.clock.during_pause = arrives
    assert [record.status for record in world.run()] == ["ok"]
    assert world.clock.pauses[0] > 60 and "elsewhere may still be submitting" in world.messages[-1]
    assert world.scheduler.submitted == [name]


def test_a_job_that_turns_up_after_its_submission_was_abandoned_is_cancelled(world):
    list(world.controller().begin())
    (name,) = world.scheduler.submitted
    (world.folder / "submissions" / f"{name}.job").unlink()
    late = dict(world.scheduler.jobs)
    world.scheduler.jobs.clear()
    controller = world.controller()
    abandon = type(controller.journal).abandon

    def abandoned_and_then_accepted(journal, submission, why):
        abandon(journal, submission, why)
        world.scheduler.jobs.update(late)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(controller.journal), "abandon", abandoned_and_then_accepted)
        list(controller.begin())
    assert world.scheduler.cancelled == ["101"]
    assert len(world.scheduler.submitted) == 2


def test_a_cancelled_sweep_submits_nothing_more_and_goes_on_later(tmp_path):
    world = World(tmp_path, (1, 2))
    list(world.controller().begin())
    assert cancel_on_site(world.store, world.sweep, world.messages.append, world.scheduler) == ["101", "102"]
    for job in world.scheduler.jobs.values():
        job.end("CANCELLED", FailureCause(Status.CRASH, "a job that never began has no better cause"))
    controller = world.controller()
    controller.collect(patience_seconds=60.0)
    assert world.statuses == ["cancelled", "cancelled"] and not controller.outstanding
    assert list(controller.wait()) == [] and len(world.scheduler.submitted) == 2
    (world.folder / "cancelled").unlink()  # as a new run does
    assert [record.status for record in world.run()] == ["ok", "ok"]


def test_contended_cases_are_measured_again_as_often_as_asked(world):
    world.clock.during_pause = lambda: world.deliver_all(Verdict.CONTENDED)
    assert [record.contention.verdict for record in world.run(contended_rounds=1)] == ["contended"] * 2
    assert len(world.scheduler.submitted) == 2


def test_a_device_count_that_the_site_lacks_is_unsupported_and_nothing_is_submitted(tmp_path):
    world = World(tmp_path)
    world.site = site_of("[devices.cpu]\ncounts = [2]", "test", "test.toml")
    (record,) = world.run()
    assert (record.status, record.message) == ("unsupported", "test allows 2 cpu per node, not 1")
    assert not world.scheduler.submitted


def test_status_says_how_the_jobs_stand_and_why_they_wait(tmp_path):
    world = World(tmp_path, (1, 2))
    list(world.controller().begin())
    world.scheduler.jobs["101"].state = "RUNNING"
    jobs = jobs_of(world.store, world.sweep, set(), world.scheduler)
    assert (jobs.states, jobs.notes, jobs.active) == ({"running": 1, "pending": 1}, ["waits for 1 node"], 2)
    world.scheduler.is_away = True
    assert jobs_of(world.store, world.sweep, set(), world.scheduler).states == {"unknown": 2}
