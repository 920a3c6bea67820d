import csv
import io
from dataclasses import replace

import pytest

from steptime.core.schema import Allocation, Case, Contention, Record, Software
from steptime.store.columns import row_of
from steptime.store.export import psc_text
from steptime.store.psc import only_contended, psc_files
from tests.core.stats.test_invariants import imported
from tests.core.stats.test_invariants import record as measured

SEVEN = ["mean_speed", "Mean_Time_Per_Step", "speed_uncertainty", "Speed_Jitter", "gpu_type", "num_gpu", "staged_from"]
FAILED = Record("f", "out_of_memory", Case("mlp", "pytorch", 8), "2026-01-01T00:00:00.000+00:00")


def row(identity: str, verdict: str = "clean", version: str = "1", job: str = "", **case):
    found = measured()
    return row_of(
        replace(
            found,
            id=identity,
            case=replace(found.case, **case),
            contention=Contention(verdict, "", 1.0, 1.0, 0.1, 0),
            software=Software("3.11", "python", "pytorch", version, "0"),
            allocation=Allocation("site", job) if job else None,
        )
    )


def table(rows, contended=False):
    read = csv.DictReader(io.StringIO(psc_text(rows, contended)))
    return list(read), [name for name in read.fieldnames or () if name not in SEVEN]


def test_psc_has_exactly_its_seven_columns_and_only_measured_cases():
    lines = psc_text([row("a"), row_of(FAILED)]).splitlines()
    assert lines[0].split(",") == SEVEN
    assert len(lines) == 2
    speed, seconds = (float(v) for v in lines[1].split(",")[:2])
    assert speed * seconds == pytest.approx(8)


def test_a_case_that_was_measured_again_is_one_row_the_quietest_and_newest():
    tries = [row("a", "contended"), row("b", "noisy"), row("c", "clean"), row("d", "clean"), row("e", "noisy")]
    assert len(table(tries)[0]) == 1
    numbered = [{**one, "throughput": float(i)} for i, one in enumerate(tries)]
    assert [line["mean_speed"] for line in table(numbered)[0]] == ["3.0"]


def test_contended_tries_are_rows_only_on_request_and_say_so():
    tries = [row("a", "contended"), row("b"), row("c", "contended", batch=16)]
    lines, further = table(tries)
    assert (len(lines), further, only_contended(tries)) == (1, [], 1)
    lines, further = table(tries, contended=True)
    assert further == ["batch", "verdict"]
    assert [(line["batch"], line["verdict"]) for line in lines] == [("8", "contended"), ("8", "clean"), ("16", "contended")]


@pytest.mark.parametrize(
    ("changes", "columns"),
    [
        ([{}, {"batch": 16}], ["batch"]),
        ([{}, {"seed": 2}], ["seed"]),
        ([{}, {"repeat": 1}, {"repeat": 2}], ["repeat"]),
        ([{}, {"seed": 2, "repeat": 1, "batch": 4}], ["batch", "seed", "repeat"]),
        ([{}, {"precision": "bf16", "model": "lenet"}], ["model", "precision"]),
        ([{}, {"version": "2"}], ["software"]),
        ([{}, {"devices": 2}], []),
        ([{}, {"labels": {"night": "2"}}], ["id"]),
    ],
)
def test_columns_that_tell_rows_apart_are_there_where_rows_differ_in_them(changes, columns):
    lines, further = table([row(f"r{number}", **change) for number, change in enumerate(changes)])
    assert (len(lines), further) == (len(changes), columns)


def test_which_node_of_a_cluster_ran_a_case_does_not_make_it_another():
    tries = [{**row(f"r{node}", job="7"), "server": node} for node in ("c1", "c2")]
    assert (len(table(tries)[0]), table(tries)[1]) == (1, [])
    assert table([{**one, "job": None} for one in tries])[1] == ["server"]


def test_every_imported_record_is_a_row():
    both = [row_of(replace(imported(mean_speed=1.0, mean_seconds=128.0, uncertainty=0.1, jitter=0.1), id=i)) for i in "ab"]
    both = [{**one, "data_store": "dram"} for one in both]
    assert (len(table(both)[0]), table(both)[1]) == (2, ["id"])


def test_files_are_one_per_measured_case_and_name_the_repeat():
    rows = [row("a", "contended"), row("b"), row("c", seed=3, repeat=2)]
    files = psc_files(rows)
    assert len(files) == 2
    assert [text.splitlines()[0].split(", ")[3:5] for text in files.values()] == [["seed 1", "repeat 0"], ["seed 3", "repeat 2"]]
    assert [": contended" in text or ", contended" in text for text in psc_files(rows, contended=True).values()].count(True) == 1
