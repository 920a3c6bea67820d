"""Whole imports: many files, several processes, one store."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from steptime.importing import run as module
from steptime.importing.recognise import read
from steptime.importing.reference import reference_file
from steptime.importing.run import files_in, run
from steptime.store.columns import row_of
from steptime.store.files import Store
from steptime.store.lookup import read_rows
from tests.importing.samples import FILES, TF_CNN


@pytest.fixture
def store(tmp_path):
    found = Store(tmp_path / "store")
    found.prepare()
    return found


def many(folder, count):
    folder.mkdir()
    for number in range(count):
        (folder / f"{number:04}.log").write_text(TF_CNN.replace("399.87", f"{400 + number}.25"))
    return files_in([folder])


def test_a_second_import_adds_nothing(store, samples):
    first = run(store, files_in([samples]))
    again = run(store, files_in([samples]))
    assert first.added > 40 and first.present <= 1  # the trace lies there twice, packed and unpacked: two files
    assert again.added == 0 and again.present == first.added + first.present
    assert len(store.paths()) == 1
    assert len(read_rows(store).rows) == first.added


def test_a_file_that_was_moved_is_the_same_file(store, samples, tmp_path):
    run(store, files_in([samples]))
    elsewhere = tmp_path / "elsewhere" / "deeper"
    elsewhere.mkdir(parents=True)
    (samples / "alexnet.log").rename(elsewhere / "other.name")
    assert run(store, files_in([elsewhere])).added == 0


def test_the_same_content_of_which_the_path_says_something_else_is_another_record(store, tmp_path):
    for place in ("fp16", "fp32"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "a.log").write_text(TF_CNN)
    assert run(store, files_in([tmp_path / "fp16", tmp_path / "fp32"])).added == 2
    assert sorted(row["precision"] for row in read_rows(store).rows) == ["fp16", "fp32"]


def test_a_file_goes_in_wholly_or_not_at_all_and_the_rest_go_in(store, samples):
    path = samples / "tf-train-throughput-fp32.csv"
    path.write_text(path.read_text().replace(",567,", ",-567,"))
    report = run(store, [path, samples / "tf_cnn.log"])
    assert report.added == 1
    (refused,) = report.refused
    assert (refused.path, refused.line) == (path, 3) and "mean_speed is -567.0" in refused.reason
    assert [row["origin"] for row in read_rows(store).rows] == ["tf_cnn_benchmarks"]


def test_several_processes_read_what_one_reads(store, tmp_path):
    paths = many(tmp_path / "logs", 150)
    (tmp_path / "logs" / "0077.log").write_bytes(b"\0\1\2")
    parallel = run(store, paths, processes=2)
    alone = run(None, paths, processes=1)
    assert parallel.added == alone.added == 149
    assert [file.path for file in parallel.files] == [file.path for file in alone.files] == paths
    assert [file.lines for file in parallel.files] == [file.lines for file in alone.files]
    assert [file.reason for file in parallel.refused] == ["a binary file that no importer knows"]


def test_batches_are_bounded_and_hold_whole_files(store, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "BATCH_BYTES", 20_000)
    report = run(store, many(tmp_path / "logs", 60))
    assert len(report.batches) > 2
    assert len(read_rows(store).rows) == report.added == 60


def test_without_a_store_nothing_is_written_and_rows_are_shown(samples):
    report = run(None, files_in([samples]))
    assert report.batches == [] and sum(len(file.rows) for file in report.files) == report.added + report.present


def test_imported_records_are_listed_filtered_shown_and_exported_like_our_own(inside, samples):
    done = inside("import", samples)
    assert done.code == 0, done.err
    (row,) = inside("list", "--where", "origin=tf_cnn_benchmarks", "--where", "device_type=cpu", "--json").json
    assert row["throughput"] == 7.31
    shown = inside("show", row["id"]).out
    assert "7.31 samples/s" in shown and "imported from" in shown and "tf_cnn_cpu.log, line 25" in shown
    assert inside("show", row["id"], "--json").json[0]["mean_speed"] == 7.31
    assert "7.31" in inside("export", "--where", "origin=tf_cnn_benchmarks").out
    assert inside("export", "--format", "psc").out.startswith("mean_speed,")
    assert inside("list").code == 0


def test_the_command_says_what_went_in_and_what_did_not(inside, samples):
    (samples / "notes.txt").write_text("hello")
    first = inside("import", samples)
    assert first.code == 1
    assert "no importer knows it" in first.err and "notes.txt" in first.err
    assert "1 of " in first.out and "refused" in first.out and "files read with others" in first.out
    again = inside("import", samples)
    assert again.out.splitlines()[-1].startswith("0 records imported, ")


def test_a_dry_run_stores_nothing(inside, samples, home):
    done = inside("import", "--dry-run", samples / "tf_cnn.log")
    assert done.code == 0 and "1 records would be imported" in done.out and "399.9" in done.out
    assert not (home / "store").exists()


def test_json_has_a_line_for_every_file(inside, samples):
    lines = inside("import", "--json", samples).json
    assert {line["file"].rpartition("/")[2] for line in lines} == set(FILES)
    (one,) = (line for line in lines if line["file"].endswith("/dlbs.log"))
    assert one["tool"] == "DLBS" and len(one["records"]) == 1 and one["refused"] is False


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "give files or folders"),
        (("nowhere",), "no such file or folder: nowhere"),
        (("--mapping", "nothing.toml", "."), "cannot read"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(inside, tmp_path, arguments, words):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    done = inside("import", *arguments)
    assert done.code == 2 and words in done.err and len(done.err.splitlines()) == 1


def test_formats_are_listed(inside):
    done = inside("import", "--formats")
    assert done.code == 0 and "kineto" in done.out and "tf_cnn_benchmarks" in done.out
    assert len(inside("import", "--formats", "--json").json) >= 19


def test_the_reference_set_comes_with_source_and_date_and_goes_in_once(inside):
    assert inside("import", "--reference").code == 0
    assert inside("import", "--reference").out.endswith("0 records imported, 30 were there already\n")
    rows = inside("list", "--where", "origin=reference", "--json").json
    assert len(rows) == 30
    titan = [r for r in rows if r["device"] == "Tesla K40c" and r["phase"] == "training"]
    assert [r["batch_time_ms"] for r in titan] == [480.0]
    ti = [r for r in rows if r["model"] == "resnet50" and r["effective_batch"] == 64]
    assert [(r["throughput"], r["precision"], r["device"]) for r in ti] == [(65.0, "fp16", "GeForce GTX 1050 Ti")]
    assert sorted(r["throughput"] for r in rows if r["model"] == "mnist_cnn") == [4836.64568, 5250.901566, 8732.961728]
    cpu = [r for r in rows if r["model"] == "alexnet_conv" and r["device_type"] == "cpu"]
    assert [r["batch_time_ms"] for r in cpu] == [2965.0]


def test_every_reference_figure_names_its_source(store):
    run(store, [reference_file()])
    records, _ = store.read()
    picotte = sorted(r.printed.others["run_seconds"] for r in records if "picotte" in r.case.model)
    assert picotte == [13.4592, 23.046, 60.0, 1150.549]
    for record in records:
        assert record.source.raw["source"] and record.origin == "reference"


def test_what_steptime_exports_another_store_imports(inside, samples, tmp_path, monkeypatch):
    inside("import", samples / "tf_cnn.log", samples / "dlbs.log")
    (tmp_path / "rows.csv").write_text(inside("export").out)
    monkeypatch.setenv("STEPTIME_STORE", str(tmp_path / "other"))
    assert inside("import", tmp_path / "rows.csv").code == 0
    rows = inside("list", "--json").json
    assert sorted((r["origin"], r["throughput"], r["effective_batch"]) for r in rows) == [
        ("DLBS", 1000.0, 64),
        ("tf_cnn_benchmarks", 399.87, 128),
    ]


def test_damage_in_a_batch_is_told_and_the_rest_is_listed(inside, samples, home):
    inside("import", samples)
    (path,) = Store(home / "store").paths()
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], b'{"id": "torn\n', *lines[4:]]))
    done = inside("list", "--json")
    assert len(done.json) == len(lines) - 1 and "line 4 of" in done.err


def test_the_importer_in_contributing_is_one(tmp_path, monkeypatch):
    import importlib.util
    import re
    from pathlib import Path

    from steptime.importing.recognise import read

    page = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text()
    log, code = re.search(r"Say that `mytool` writes\n\n```\n(.*?)```.*?```python\n(.*?)```", page, re.DOTALL).groups()
    (tmp_path / "mytool.py").write_text(code)
    (tmp_path / "a.log").write_text(log)
    spec = importlib.util.spec_from_file_location("mytool", tmp_path / "mytool.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (record,) = read(tmp_path / "a.log", module).records
    assert (record.case.model, record.case.effective_batch, record.printed.mean_speed) == ("resnet50", 128, 812.5)
    assert record.source.device == "Tesla P100" and record.source.line == 2


def test_psc_files_that_steptime_writes_are_read_again(inside, samples, tmp_path, monkeypatch):
    inside("import", samples / "2018-06-04-p100:2:scratch", samples / "tf_cnn.log", samples / "1234.json")
    assert inside("export", "--format", "psc", tmp_path / "table.csv").code == 0
    monkeypatch.setenv("STEPTIME_STORE", str(tmp_path / "other"))
    assert inside("import", tmp_path / "table.csv").code == 0
    rows = inside("list", "--json").json
    assert 8732.961728 in [row["throughput"] for row in rows]


def test_a_psc_table_of_several_models_and_batches_is_read_as_what_it_says(tmp_path):
    table = tmp_path / "table.csv"
    header = "mean_speed,Mean_Time_Per_Step,speed_uncertainty,Speed_Jitter,gpu_type,num_gpu,staged_from"
    lines = "100.0,0.32,1,1,k80,2,dram,lenet,PyTorch 2.13.0,inference,16\n100.0,0.08,1,1,k80,1,dram,mlp,JAX 0.10,training,8\n"
    table.write_text(f"{header},model,software,phase,batch\n{lines}")
    found = [row_of(record) for record in read(table).records]
    columns = ("model", "framework", "framework_version", "phase", "replica_batch", "effective_batch")
    assert [tuple(row[name] for name in columns) for row in found] == [
        ("lenet", "pytorch", "2.13.0", "inference", 16, 32),
        ("mlp", "jax", "0.10", "training", 8, 8),
    ]


def test_what_is_no_file_is_refused_and_not_waited_for(store, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    report = run(store, [tmp_path / "pipe", *files_in([tmp_path])])
    assert {file.path.name: file.reason for file in report.refused} == {
        "pipe": "not a regular file",
        "gone": "cannot be read: No such file or directory",
    }


def test_reasons_are_one_line_that_a_terminal_may_have(samples):
    path = samples / "logs_cpu-pip_cpu16_mnist_cnn_tensorflow.csv"
    path.write_bytes(path.read_bytes().replace(b"1,10.0", b'1,"\x1b[31m\nred\x07"'))
    (file,) = run(None, [path]).files
    assert file.reason == "epoch 1 took ' [31m red ' s"


@pytest.mark.slow
@pytest.mark.parametrize("moment", [0, 0.01, 0.04, 0.16])
def test_an_interrupted_import_stops_at_once_and_leaves_no_half(home, tmp_path, moment):
    many(tmp_path / "logs", 3000)
    command = [Path(sys.executable).with_name("steptime"), "import", str(tmp_path / "logs")]
    env = {**os.environ, "STEPTIME_STORE": str(tmp_path / "s")}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env) as process:
        while not (tmp_path / "s" / "records").exists():  # the readers start after that
            assert process.poll() is None
            time.sleep(0.001)
        time.sleep(moment)
        process.send_signal(signal.SIGINT)
        try:
            _, said = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130 and said.strip() == "steptime: interrupted"
    assert read_rows(Store(tmp_path / "s")).rows == []


def speeds(store):
    return sorted(row["throughput"] for row in read_rows(store).rows)


@pytest.fixture
def table(tmp_path):
    """A table whose batches are known only once the other table is beside it."""
    (tmp_path / "tables").mkdir()
    path = tmp_path / "tables" / "tf-train-throughput-fp32.csv"
    path.write_text(FILES["tf-train-throughput-fp32.csv"])

    def tell_batches():
        (path.parent / "tf-train-bs-fp32.csv").write_text(
            "name_gpu,num_gpu,alexnet,resnet50,vgg16\nRTX 3080,1,448,56,24\n2x RTX 2080Ti NVLink,2,1024,128,112\n"
        )

    return path, tell_batches


def test_a_file_that_is_now_read_differently_is_refused_and_not_stored_twice(store, table):
    path, tell_batches = table
    assert run(store, [path]).added == 5
    before = speeds(store)
    tell_batches()
    report = run(store, [path])
    assert (report.added, report.replaced) == (0, 0) and speeds(store) == before
    (refused,) = report.refused
    assert "5 records of it are in the store from an earlier import" in refused.reason and "--replace" in refused.reason


def test_replace_replaces_the_records_of_the_earlier_import(store, table, samples):
    path, tell_batches = table
    run(store, [path, samples / "tf_cnn.log"])
    before = speeds(store)
    tell_batches()
    report = run(store, [path], replace=True)
    assert (report.added, report.replaced, report.refused) == (5, 5, [])
    assert speeds(store) == before  # the other file's record is where it was
    rows = read_rows(store).rows
    assert {row["replica_batch"] for row in rows if row["origin"] == "Lambda tables"} == {448, 56, 24, 512, 64}
    again = run(store, [path], replace=True)
    assert (again.added, again.replaced, again.present) == (0, 0, 5)


def test_records_of_a_file_that_holds_no_result_any_more_are_replaced_by_nothing(store, tmp_path, table):
    from steptime.importing.mapping import MappedImporter

    path, tell_batches = table
    tell_batches()
    batches = path.parent / "tf-train-bs-fp32.csv"
    wrong = MappedImporter("Lambda tables", "", {"device": "name_gpu", "throughput": "alexnet"}, {"model": "alexnet"}, {})
    assert run(store, [batches], wrong).added == 2  # as speeds, which they are not
    assert "2 records of it are in the store" in run(store, [batches]).refused[0].reason
    assert run(store, [batches], replace=True).replaced == 2
    assert speeds(store) == [] and store.paths() == []


def test_ids_of_what_was_imported_before_are_the_same_now(samples):
    """Of formats that are read as ever."""
    found = {path.name: [r[0] for r in file.lines] for file in run(None, files_in([samples])).files for path in [file.path]}
    assert found["dlpg.csv"] == ["import-243a49fb85654cec"]
    assert found["2018-06-04-p100:2:scratch"] == ["import-b1b89037c43a5694"]
    assert found["alexnet.log"] == ["import-707762175441bb45", "import-c28f2eecfc7aaf80"]
    assert found["gnmt.txt"] == ["import-002691674ebdb54b"]
    assert found["dawn_inference.json"] == ["import-63fbb44d869436a9"]


def test_figures_far_off_what_is_there_are_reported_and_imported(store, tmp_path):
    (tmp_path / "fp16").mkdir()
    for name, speed in (("a.log", "399.87"), ("b.log", "410.00"), ("c.log", "3.99")):
        (tmp_path / "fp16" / name).write_text(TF_CNN.replace("399.87", speed))
    assert run(store, files_in([tmp_path / "fp16" / "a.log", tmp_path / "fp16" / "b.log"])).warnings == []
    report = run(store, [tmp_path / "fp16" / "c.log"])
    assert report.added == 1
    (warning,) = report.warnings
    assert "c.log:25: resnet50 training Tesla P100-PCIE-16GB fp16: 1.995 samples/s is a hundred times off" in warning
    assert "in record import-" in warning
