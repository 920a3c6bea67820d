"""Real runs on PyTorch, as a user makes them."""

import pytest

pytestmark = pytest.mark.real
THREADS: list[str] = []  # all of this machine


def test_training_and_inference_give_trustworthy_records(run):
    done = run("mnist_cnn", "--batch", "50")
    assert done.code == 0, done.err
    training, inference = done.json
    for row in (training, inference):
        assert row["status"] == "ok"
        assert row["framework"] == "pytorch" and row["framework_version"].startswith("2.")
        assert 0 < row["limit_share"] <= 1.05
        assert row["ci"][0] <= row["mean_speed"] <= row["ci"][1]
    assert training["flops_per_step"] > 2.9 * inference["flops_per_step"]


@pytest.mark.parametrize("precision", ["bf16", "fp16", "fp64"])
def test_other_precisions_run_or_say_why_not(run, precision):
    done = run("mlp", "-m", "width=64", "-n", "8", "--precision", precision)
    for row in done.json:
        assert row["status"] in ("ok", "unsupported"), row["message"]


def test_what_only_a_gpu_has_is_unsupported_here(run):
    for extra in (["--precision", "tf32"], ["--device", "cuda"]):
        done = run("mlp", "--phase", "inference", *extra)
        (row,) = done.json
        if row["status"] != "ok":
            assert (row["status"], done.code) == ("unsupported", 1)
            assert "CUDA" in row["message"]


def test_a_batch_too_large_for_this_machine_is_out_of_memory(run):
    done = run("mlp", "-m", "layers=1", "-m", "width=60000", "--phase", "training", "--batch", "100000")
    assert done.code == 1
    assert done.json[0]["status"] == "out_of_memory"


@pytest.mark.parametrize("optimizer", ["momentum", "adam", "none"])
def test_optimizers_run(run, optimizer):
    (row,) = run("lenet", "--phase", "training", "--optimizer", optimizer).json
    assert (row["status"], row["optimizer"]) == ("ok", optimizer)


def test_half_precision_runs_without_an_optimizer(run):
    (row,) = run("mlp", "-m", "width=16", "-n", "4", "--phase", "training", "--optimizer", "none", "--precision", "fp16").json
    assert row["status"] in ("ok", "unsupported"), row["message"]


def test_a_compiled_model_runs_and_its_compilation_is_kept_apart(run):
    (record,) = run("mlp", "--phase", "inference", "-b", "compile=default", "--full").json
    if record["status"] != "ok":
        pytest.skip(f"torch.compile does not work here: {record['message']}")
    assert record["resources"]["compile_seconds"] > 5 * record["summary"]["p50_seconds"]
    assert record["steps"]["steady_start"] >= 1


def test_doctor_is_green(steptime, torch_python):
    done = steptime("doctor", "pytorch", "--python", torch_python, "--json")
    assert done.code == 0
    assert done.json[0]["works"] is True
