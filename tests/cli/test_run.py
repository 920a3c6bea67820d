import dataclasses
import json
import os
import subprocess

import pytest

from steptime.cli import resume, run
from steptime.cli.run_options import MeasuringOptions, RunOptions
from steptime.plan.fields import FIELDS, OPEN_GROUPS

pytestmark = pytest.mark.usefixtures("known_machine")
BAD = [
    (["run", "resnet5"], "unknown model or plan 'resnet5' (did you mean resnet"),
    (["run", "mlp", "-B", "pytorhc"], "unknown backend 'pytorhc' (did you mean pytorch?); known: all, "),
    (["run", "mlp", "-B", "null", "-p", "fp8"], "unknown precision 'fp8'"),
    (
        ["run", "mlp", "-B", "null", "--phase", "train"],
        "unknown phase 'train' (did you mean training?); known: inference, training",
    ),
    (["run", "mlp", "-B", "null", "--optimizer", "lion"], "known: adam, momentum, none, sgd"),
    (["run", "mlp", "-B", "null", "--device", "tpu"], "unknown device 'tpu'; known: cpu, cuda"),
    (["run", "mlp", "-B", "null", "--data", "imagenet"], "unknown data 'imagenet'; known: mnist, synthetic"),
    (["run", "mlp", "-B", "null", "-n", "0"], "batch must be from 1 to 2147483647, got 0"),
    (["run", "mlp", "-B", "null", "-n", "-4"], "batch must be from 1 to 2147483647, got -4"),
    (["run", "mlp", "-B", "null", "-n", "99999999999"], "batch must be from 1 to"),
    (["run", "mlp", "-B", "null", "-n", "many"], "--batch takes whole numbers, such as 32 or 16,32,64; got 'many'"),
    (["run", "mlp", "-B", "null", "-t", "0"], "threads must be from 1 to"),
    (["run", "mlp", "-B", "null", "-m", "depth=3"], "unknown option of model mlp 'depth'; known: classes, inputs, layers"),
    (["run", "mlp", "-B", "null", "-m", "layers=deep"], "option layers of model mlp takes int (default 4), not 'deep'"),
    (["run", "mlp", "-B", "null", "-m", "layers=-1"], "option layers must be at least 0"),
    (["run", "resnet50", "-B", "null", "-m", "image=1"], "option image must be at least 32"),
    (["run", "mlp", "-B", "fake", "-b", "speed=3"], "unknown option of backend fake 'speed'"),
    (["run", "mlp", "-B", "fake", "-b", "sleep=maybe"], "option sleep of backend fake takes bool (default False), not 'maybe'"),
    (["run", "mlp", "-B", "null", "-m", "layers"], "--model-option is written KEY=VALUE"),
    (["run", "mlp,mlp", "-B", "null"], "the same model is listed twice"),
    (["run", "mlp", "-B", "null", "--target", "7"], "budget.target must be between 0 and 1, got 7"),
    (["run", "mlp", "-B", "null", "--python", "/nowhere/python"], "--python /nowhere/python: no such interpreter"),
    (["run", "mlp", "-B", "pytorch"], "pytorch is not installed; run: steptime setup pytorch"),
    (["run", "mlp", "-B", "null", "--store", "/proc/nowhere"], "cannot write records to /proc/nowhere"),
    (["run", "--frobnicate"], "No such option"),
    (["rnu"], "unknown command 'rnu'; known: run, resume"),
    (["show", "x"], "unknown record 'x'; known: none"),
    (["export", "--format", "xls"], "unknown format 'xls'; known: csv, json, psc, psc-files"),
    (["export", "/nowhere/file.csv"], "cannot write /nowhere/file.csv"),
    (["list", "-w", "colour=3"], "unknown column 'colour'; known: architecture, augmentation, backend"),
    (["models", "resnet500"], "unknown model 'resnet500' (did you mean resnet50?)"),
    (["backends", "torch"], "unknown backend 'torch'"),
    (["doctor", "torch"], "unknown backend 'torch'"),
    (["setup", "torch"], "unknown environment 'torch'"),
    (["setup", "pytorch", "--platform", "abacus"], "unknown platform of environment pytorch 'abacus'; known: cpu, cuda"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD, ids=[" ".join(b[0]) for b in BAD])
def test_bad_input_gets_one_line_and_exit_code_2(inside, arguments, words, home):
    done = inside(*arguments)
    assert done.code == 2, done.err
    assert words in done.err
    assert len(done.err.splitlines()) == 1, done.err
    assert done.out == ""
    assert not list((home / "store").glob("records/*/*/*"))


def test_comma_lists_make_a_grid_of_records(inside):
    done = inside("run", "mlp,lenet", "-B", "null", "--phase", "training,inference", "-n", "4,8", "--max-steps", "50", "--json")
    assert done.code == 0, done.err
    cases = {(row["model"], row["phase"], row["replica_batch"]) for row in done.json}
    assert len(cases) == len(done.json) == 8


@pytest.mark.slow
def test_a_json_row_has_what_others_build_on(steptime):
    (row,) = steptime("run", "mlp", "-B", "fake", "--phase", "training", "-b", "noise=0.02", "--json").json
    assert row["status"] == "ok"
    assert row["ci"][0] < row["mean_speed"] < row["ci"][1]
    for key in ("uncertainty", "jitter", "verdict", "flops_per_step", "peak_bytes", "id", "throughput", "started"):
        assert row[key] is not None
    assert len(row["steps"]) > 20


def test_a_failed_case_does_not_stop_the_others_and_exits_1(inside):
    options = ["-B", "fake", "--phase", "training", "-b", "failure=segv,unsupported,raise", "-b", "fail_at=2"]
    done = inside("run", "mlp", *options, "--json")
    assert done.code == 1
    assert [row["status"] for row in done.json] == ["crash", "unsupported", "crash"]
    assert all(row["throughput"] is None for row in done.json)
    assert "Traceback" not in done.err


def test_the_step_lines_are_those_of_tf_cnn_benchmarks(inside):
    options = ["-B", "fake", "--phase", "training", "-n", "32", "--max-steps", "43", "--min-steps", "1000", "--steps-table"]
    lines = inside("run", "mlp", *options).out.splitlines()
    assert lines[0] == "Step\tImg/sec\ttotal_loss"
    assert lines[1].startswith("1\timages/sec: 3200.0 +/- 0.0 (jitter = 0.0)\t")
    assert [line.split("\t")[0] for line in lines[1:6]] == ["1", "10", "20", "30", "40"]
    assert lines[6:9] == ["-" * 64, "total images/sec: 3200.00", "-" * 64]


def test_a_dry_run_measures_nothing(inside, home):
    done = inside("run", "mlp", "-B", "null", "-n", "1,2", "--dry-run")
    assert "4 cases" in done.out.splitlines()
    assert done.out.splitlines()[-1].startswith("about ")
    assert not (home / "store").exists()


def test_labels_are_kept_and_can_be_exported(inside):
    inside("run", "mlp", "-B", "null", "--phase", "training", "--max-steps", "30", "--label", "rack=7")
    (row,) = inside("list", "--json").json
    assert row["labels"] == {"rack": "7"}
    assert '"{""rack"": ""7""}"' in inside("export").out


def test_damaged_records_are_named_and_the_rest_is_listed(inside, home):
    inside("run", "mlp", "-B", "null", "--phase", "training", "--max-steps", "30")
    (whole,) = (home / "store").glob("records/*/*/*.json")
    (whole.parent / "torn.json").write_text(whole.read_text()[:100])
    done = inside("list", "--json")
    assert done.code == 0
    assert len(done.json) == 1
    assert "quarantine/torn.json: not a record" in done.err


@pytest.mark.slow
def test_the_command_to_repeat_a_case_repeats_it(inside):
    options = ["-B", "fake", "--phase", "training", "-m", "layers=2", "-b", "noise=0.01", "-n", "7", "--optimizer", "adam"]
    inside("run", "mlp", *options)
    (line,) = [line for line in inside("show").out.splitlines() if "repeat it" in line]
    assert inside(*line.split("steptime ")[1].split()).code == 0
    first, second = inside("list", "--json").json
    same = ("model", "backend", "replica_batch", "precision", "threads", "optimizer", "throughput")
    assert {k: first[k] for k in same} == {k: second[k] for k in same}


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 300 kB."""
    mount = tmp_path / "small"
    mount.mkdir()
    made = ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(mount)]
    if os.geteuid() or subprocess.run(made, capture_output=True).returncode:
        pytest.skip("needs root and mount for a file system that can be filled")
    yield mount
    subprocess.run(["umount", str(mount)], check=True)


def test_a_disk_that_fills_up_while_a_case_runs_is_that_cases_failure(inside, small_disk):
    long = ["-b", "noise=0.3", "--max-steps", "20000", "--min-steps", "1000000", "--max-seconds", "1e6"]
    done = inside("run", "mlp", "-B", "fake", "--phase", "training", *long, "--store", small_disk, "--json")
    assert done.code == 1, done.err
    assert done.json[0]["message"] == "cannot write record.json: No space left on device"


def test_a_full_disk_is_refused_before_anything_is_measured(inside, small_disk):
    subprocess.run(["dd", "if=/dev/zero", f"of={small_disk}/ballast"], capture_output=True)
    done = inside("run", "mlp", "-B", "null", "--store", small_disk)
    assert done.code == 2
    assert done.err.startswith(f"steptime: cannot write records to {small_disk}: No space left on device")


def test_a_read_only_store_is_refused_before_anything_is_measured(inside, tmp_path):
    mount = tmp_path / "frozen"
    mount.mkdir()
    made = ["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(mount)]
    if os.geteuid() or subprocess.run(made, capture_output=True).returncode:
        pytest.skip("needs root and mount for a read-only file system")
    try:
        done = inside("run", "mlp", "-B", "null", "--store", mount)
        assert done.code == 2
        assert done.err == f"steptime: cannot write records to {mount}: Read-only file system; choose another with --store DIR\n"
    finally:
        subprocess.run(["umount", str(mount)], check=True)


@pytest.mark.real
def test_forty_runs_of_one_noisy_case_cover_the_truth(steptime):
    options = ["-B", "fake", "--phase", "training", "-n", "10", "-b", "noise=0.05", "-b", "rho=0.8", "-b", "warmup=4"]
    done = steptime("run", "mlp", *options, "--repeats", "40", "--json")
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert len(rows) == 40
    assert len({row["throughput"] for row in rows}) == 40
    assert sum(row["ci_low"] <= 1000.0 <= row["ci_high"] for row in rows) >= 36


def test_every_option_of_run_and_resume_reaches_the_typed_options():
    typed = {field.name for options in (RunOptions, MeasuringOptions) for field in dataclasses.fields(options)}
    changes = {*(key.rpartition(".")[2] for key in FIELDS), *OPEN_GROUPS, "repeats", "order", "include", "exclude"}
    for verb in (run.command, resume.command):
        assert {parameter.name for parameter in verb.params} <= typed | changes | {"name"}


@pytest.mark.parametrize("arguments", [["--detach"], ["--retry", "some"], ["--python", "/no/such"]], ids=" ".join)
def test_what_cannot_be_measured_leaves_no_sweep_behind(inside, tmp_path, arguments):
    assert inside("run", "mlp", "-B", "null", "--store", "s", *arguments).code == 2
    assert not list(tmp_path.rglob("sweep.json"))
