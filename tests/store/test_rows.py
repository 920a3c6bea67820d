import csv
import io
import json
from dataclasses import replace

import pytest

from steptime.core.errors import UnknownName
from steptime.core.schema import Case, Machine, Record, Software
from steptime.store.columns import NAMES, row_of
from steptime.store.export import csv_text, json_lines
from steptime.store.files import Store
from steptime.store.lookup import read_rows
from tests.core.stats.test_invariants import imported
from tests.core.stats.test_invariants import record as measured

FAILED = Record("f", "out_of_memory", Case("mlp", "pytorch", 8, labels={"site": "a,b"}), "2026-01-01T00:00:00.000+00:00")


@pytest.fixture
def rows():
    return [row_of(measured()), row_of(FAILED)]


def test_a_row_has_all_columns_and_missing_figures_are_none(rows):
    for row in rows:
        assert tuple(row) == NAMES
    assert rows[0]["throughput"] == pytest.approx(8 / 0.1075)
    assert rows[1]["throughput"] is None
    assert rows[1]["status"] == "out_of_memory"


def test_csv_has_every_column_and_leaves_missing_figures_empty(rows):
    read = list(csv.DictReader(io.StringIO(csv_text(rows))))
    assert tuple(read[0]) == NAMES
    assert float(read[0]["throughput"]) == rows[0]["throughput"]
    assert read[1]["throughput"] == ""
    assert json.loads(read[1]["labels"]) == {"site": "a,b"}


def test_the_runtime_is_what_the_machine_says():
    record = measured()
    assert row_of(replace(record, machine=None))["runtime"] == ""
    machine = Machine("i", "h", "c", 1, 1, 1, 1.0, 1, 1, "o", "k", "a")
    assert row_of(replace(record, machine=machine))["runtime"] == "bare metal"
    virtual = replace(machine, virtualised="virtual machine (QEMU)")
    assert row_of(replace(record, machine=virtual))["runtime"] == "virtual machine"


def test_json_lines_are_one_object_each(rows):
    assert [json.loads(line)["id"] for line in json_lines(rows).splitlines()] == ["x", "f"]


def test_filters_name_the_columns_they_know(tmp_path):
    store = Store(tmp_path)
    store.prepare()
    store.put(measured())
    store.put(FAILED)
    found = read_rows(store)
    assert [row["id"] for row in found.where({"status": ["ok", "crash"]})] == ["x"]
    assert [row["id"] for row in found.where({"replica_batch": ["8"], "backend": ["pytorch"]})] == ["f"]
    with pytest.raises(UnknownName, match="throughput"):
        found.where({"throughputs": ["1"]})


def test_a_row_of_an_imported_record_says_what_its_source_says_and_no_more():
    row = row_of(imported(mean_speed=1000.0))
    assert tuple(row) == NAMES
    assert row["throughput"] == 1000.0 and row["batch_time_ms"] == pytest.approx(128.0)
    assert row["uncertainty"] is None and row["ci_low"] is None and row["p50_ms"] is None
    assert row["origin"] == "tool" and row["started"] is None
    unknown = row_of(replace(imported(mean_seconds=0.5), case=Case("mlp", "tensorflow", 0, precision="", threads=0, device="")))
    assert unknown["batch_time_ms"] == 500.0 and unknown["throughput"] is None
    assert unknown["replica_batch"] is None and unknown["precision"] is None and unknown["device_type"] is None


def test_what_changes_the_work_of_our_own_records_is_in_the_row():
    found = measured()
    options = {"image": 160, "width": 32}
    case = replace(found.case, model="resnet50", model_options=options, backend_options={"compile": "max", "mkl": True})
    software = Software("3.11", "python", "pytorch", "2.5", "0", settings={"compile": "max", "layout": "NHWC"})
    row = row_of(replace(found, case=case, software=software))
    assert (row["image_size"], row["compile"], row["layout"]) == ("160", "max", "nhwc")
    assert (row["unit"], row["variant"], row["part"]) == ("samples/s", "mkl=True", None)
    plain = row_of(replace(found, case=replace(case, model_options={}), software=software))
    assert plain["image_size"] == "224" and plain["model"] == "resnet50"
    assert row_of(replace(found, case=replace(case, model="mlp", model_options={})))["image_size"] is None
