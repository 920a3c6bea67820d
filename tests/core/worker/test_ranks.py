"""Several processes are one case: they agree, and none waits for ever for another."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from steptime.core.errors import CaseFailed, Unsupported
from steptime.core.models import zoo
from steptime.core.models.weights import batch_of
from steptime.core.schema import Budget, Case, Job, to_json
from steptime.core.worker.ranks import Rank, Rendezvous, free_port, rank_of
from steptime.launch.job_folder import put_worker

TWO = Case("mlp", "fake", 8, devices=2)
PLACE = {"MASTER_ADDR": "here", "MASTER_PORT": "7"}


def test_ranks_are_known_by_the_variables_of_launchers_and_of_srun():
    assert rank_of(TWO, {**PLACE, "RANK": "1", "LOCAL_RANK": "1", "WORLD_SIZE": "2"}) == Rank(1, 1, 2, "here", 7)
    assert rank_of(TWO, {**PLACE, "SLURM_PROCID": "1", "SLURM_LOCALID": "0", "SLURM_NTASKS": "2"}) == Rank(1, 0, 2, "here", 7)


def test_one_process_is_no_rank_whatever_the_variables_say():
    assert rank_of(Case("mlp", "fake", 8), {**PLACE, "RANK": "1", "WORLD_SIZE": "2"}) is None
    assert rank_of(TWO, {"SLURM_PROCID": "0", "SLURM_NTASKS": "2"}) is None


def test_another_number_of_ranks_than_the_case_has_is_refused():
    with pytest.raises(Unsupported, match="the case has 2 ranks, but 3 were started"):
        rank_of(TWO, {**PLACE, "RANK": "1", "WORLD_SIZE": "3"})


def test_the_batches_of_all_ranks_are_the_batch_of_one_process():
    for model in ("mnist_cnn", "mlp", "text_cnn"):
        graph = zoo.build(model, {})
        whole, parts = batch_of(graph, 9, 5), [batch_of(graph, 3, 5, rank) for rank in range(3)]
        for i in (0, 1):
            assert np.array_equal(whole[i], np.concatenate([part[i] for part in parts]))


def connected(size: int, timeout: float = 10.0) -> list[Rendezvous]:
    port = free_port()
    ranks = [Rendezvous(Rank(n, n, size, "127.0.0.1", port), "token", timeout) for n in range(size)]
    with ThreadPoolExecutor(size) as pool:
        list(pool.map(Rendezvous.open, ranks))
    return ranks


def hang_up(rendezvous: Rendezvous) -> None:
    """As when its process ends."""
    for line in rendezvous._lines.values():
        line.close()


def test_all_hear_what_each_said_in_the_order_of_ranks():
    ranks = connected(3)
    with ThreadPoolExecutor(3) as pool:
        heard = list(pool.map(lambda m: m.gather([m.rank.number] * 2), ranks))
    assert heard == [[[0, 0], [1, 1], [2, 2]]] * 3
    assert len({m.framework_port for m in ranks}) == 1


def test_a_rank_that_fails_is_named_with_its_reason():
    first, second = connected(2)
    second.fail("out_of_memory", "no room")
    with pytest.raises(CaseFailed, match="rank 1: no room") as caught:
        first.gather(0)
    assert caught.value.kind == "out_of_memory"


def test_a_rank_that_is_gone_is_a_crash_and_one_that_is_silent_a_timeout():
    first, second = connected(2)
    hang_up(second)
    with pytest.raises(CaseFailed, match="rank 1 ended without a message") as caught:
        first.gather(0)
    assert caught.value.kind == "crash"
    first, _ = connected(2, timeout=0.3)
    with pytest.raises(CaseFailed, match=r"rank 1 did not answer for 0\.3 s") as caught:
        first.gather(0)
    assert caught.value.kind == "timeout"


def test_after_a_broken_collective_the_rank_that_broke_it_is_found():
    first, second = connected(2)
    assert first.failed_rank(0.2) is None
    second.fail("crash", "it broke")
    assert str(first.failed_rank(5)) == "rank 1: it broke"


def test_a_rank_whose_collective_timed_out_too_has_said_so():
    first, second = connected(2)
    second.fail("timeout", "Timed out waiting for send operation")
    hang_up(second)
    found = first.failed_rank(5)
    assert (found.kind, str(found)) == ("timeout", "rank 1: Timed out waiting for send operation")


@pytest.mark.slow
def test_strangers_are_not_let_in_and_missing_ranks_are_named():
    port = free_port()
    rendezvous = Rendezvous(Rank(0, 0, 2, "127.0.0.1", port), "token", 1.0)

    def stranger() -> None:
        time.sleep(0.1)
        with socket.create_connection(("127.0.0.1", port)) as line:
            line.sendall(b"\x00\x00\x00\x02{}")
            time.sleep(0.2)

    threading.Thread(target=stranger, daemon=True).start()
    with pytest.raises(CaseFailed, match="rank 1 did not connect within 1 s"):
        rendezvous.open()


def record_of(tmp_path, limit_seconds=900.0, **options):
    """Of two fake ranks, started as a person would."""
    folder = tmp_path / "job"
    folder.mkdir()
    budget = Budget(max_steps=40, limit_seconds=limit_seconds)
    (folder / "job.json").write_text(
        to_json(Job("two", Case("mlp", "fake", 8, devices=2, backend_options=options, budget=budget)))
    )
    worker = put_worker(folder, tmp_path)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "MASTER_"))}
    subprocess.run([sys.executable, worker, folder], timeout=60, capture_output=True, env=environment)
    return json.loads((folder / "record.json").read_text())


@pytest.mark.slow
def test_two_ranks_leave_one_record_with_the_effective_batch(tmp_path):
    record = record_of(tmp_path)
    assert (record["status"], record["summary"]["effective_batch"]) == ("ok", 16)
    assert record["summary"]["mean_speed"] == pytest.approx(1600)


@pytest.mark.parametrize(
    ("failure", "kind", "words"),
    [
        ("kill", "crash", "rank 1 killed by SIGKILL"),
        ("illegal", "illegal_instruction", "rank 1 killed by SIGILL"),
        ("oom", "out_of_memory", "rank 1: the fake backend was told to run out of memory"),
        ("hang", "timeout", "rank 1 did not answer for 10 s"),
    ],
)
@pytest.mark.real
def test_a_rank_that_fails_fails_the_case_with_the_right_kind(tmp_path, failure, kind, words):
    record = record_of(tmp_path, limit_seconds=30.0, failure=failure, fail_rank=1, fail_at=3)
    assert (record["status"], words in record["message"]) == (kind, True), record["message"]
