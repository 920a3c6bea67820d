import pytest


@pytest.mark.slow
def test_an_instruction_set_that_the_cpu_only_advertises_is_found_and_avoided(inside):
    done = inside("run", "mlp", "-B", "fake", "--phase", "training", "-b", "needs_cap=true", "--json", "--full")
    assert done.code == 0, done.err
    assert done.json[0]["status"] == "ok"
    assert done.json[0]["software"]["environment"]["STEPTIME_FAKE_ISA"] == "1"
    (machine,) = inside("machine", "--json").json
    (finding,) = machine["findings"]
    assert finding["environment"] == {"STEPTIME_FAKE_ISA": "1"}
    assert "illegal instruction with all that the CPU advertises" in finding["note"]


@pytest.mark.slow
def test_what_was_found_out_is_remembered(inside):
    command = ["run", "mlp", "-B", "fake", "--phase", "training"]
    assert "probing" in inside(*command).err
    assert "probing" not in inside(*command).err


def test_figures_stand_beside_the_measured_limit(inside):
    done = inside("run", "mnist_cnn", "-B", "fake", "--phase", "inference", "-n", "10", "-b", "peak_gflops=100", "--json")
    (row,) = done.json
    flops = row["flops_per_step"] / 0.01
    assert abs(row["limit_share"] - flops / 100e9) < 1e-6


@pytest.mark.slow
def test_a_step_faster_than_the_limit_is_a_wrong_result_once_the_limit_was_measured_again(inside):
    done = inside("run", "mnist_cnn", "-B", "fake", "--phase", "training", "-b", "peak_gflops=1")
    assert done.code == 1
    assert done.err.count("probing") == 2
    assert "wrong_result: achieved" in done.out


@pytest.mark.slow
def test_a_loss_that_is_not_a_number_stays_a_wrong_result_though_the_step_beat_the_limit(inside):
    options = ["-b", "peak_gflops=1", "-b", "failure=nan", "-b", "fail_at=3"]
    done = inside("run", "mnist_cnn", "-B", "fake", "--phase", "training", *options)
    assert "wrong_result: the loss is nan" in done.out
