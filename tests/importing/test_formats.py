# ruff: noqa: E501 - a table is read by its lines
"""Every format, by small files written here: what is read, what is refused, and where."""

import pytest

from steptime.importing.recognise import importer, importer_names
from steptime.store.columns import row_of
from tests.importing import samples as sample

# sample, tool, then a row for each record: the columns that the sample says
EXPECTED = [
    ("tf_cnn.log", "tf_cnn_benchmarks", [
        {"model": "resnet50", "phase": "training", "framework_version": "1.5", "devices_per_node": 2, "replica_batch": 64,
         "effective_batch": 128, "throughput": 399.87, "uncertainty": 0.4, "jitter": 1.9, "device": "Tesla P100-PCIE-16GB",
         "data": "synthetic", "precision": None, "optimizer": "sgd", "started": "2018-03-01T10:00:00+00:00"}]),
    ("logs_i7-GeForce_GTX_1080_Ti.logs_syn-replicated-fp16-2gpus_resnet50-64_throughput_1", "tf_cnn_benchmarks", [
        {"throughput": 399.87, "replica_batch": 64, "precision": "fp16", "server": "i7-GeForce_GTX_1080_Ti",
         "started": "2018-03-02T14:13:20+00:00"}]),
    ("tf_cnn_oom.log", "tf_cnn_benchmarks", [
        {"status": "out_of_memory", "throughput": None, "effective_batch": 128,
         "message": "OOM when allocating tensor with shape[64,256,56,56]"}]),
    ("tf_cnn_stopped.log", "tf_cnn_benchmarks", [
        {"status": "crash", "throughput": None, "message": "the log ends after step 10, at 398.8 images/sec"}]),
    ("tf_cnn_eval.log", "tf_cnn_benchmarks", [{"phase": "inference", "throughput": 802.25}]),
    ("tf_cnn_cpu.log", "tf_cnn_benchmarks", [{"device_type": "cpu", "devices_per_node": 1, "effective_batch": 64, "throughput": 7.31}]),
    ("dlbs.log", "DLBS", [
        {"model": "resnet50", "phase": "inference", "precision": "fp16", "devices_per_node": 2, "replica_batch": 32,
         "throughput": 1000.0, "batch_time_ms": 64.0, "device": "Tesla P100", "runtime": "bare metal",
         "started": "2019-10-16T04:13:50+00:00"}]),
    ("dlbs.json", "DLBS", [
        {"model": "vgg16", "framework": "mxnet", "devices_per_node": 4, "nodes": 2, "effective_batch": 128, "throughput": 640.0,
         "device_type": "gpu"},
        {"model": "vgg19", "status": "crash", "message": "out of disk", "throughput": None}]),
    ("dlpg.csv", "DLPG", [
        {"model": "resnet50", "framework": "tensorflow", "framework_version": "1.10", "precision": "fp16", "data": "real",
         "data_store": "nvme", "server": "Apollo 6500", "device": "Tesla V100", "devices_per_node": 8, "nodes": 2,
         "interconnect": "EDR", "effective_batch": 2048, "throughput": 8000.0, "batch_time_ms": 256.0}]),
    ("2018-06-04-p100:2:scratch", "PSC Deep MNIST", [
        {"model": "mnist_cnn", "device": "Tesla P100", "devices_per_node": 2, "effective_batch": 50, "replica_batch": None,
         "data_store": "scratch", "throughput": 8732.961728, "batch_time_ms": 5.725434, "uncertainty": 6.388218371,
         "jitter": 760.2575007, "started": "2018-06-04T00:00:00+00:00"}]),
    ("2018-06-04:TF_PERFORMANCE_RESULTS.csv", "PSC Deep MNIST", [
        {"throughput": 5250.901566, "device": "Tesla K80", "devices_per_node": 2, "data_store": "scratch"},
        {"throughput": 4836.64568, "device": "Tesla K80", "devices_per_node": 4, "data_store": "local"}]),
    ("alexnet.log", "alexnet_benchmark", [
        {"model": "alexnet_conv", "phase": "inference", "replica_batch": 128, "batch_time_ms": 131.0,
         "device": "GeForce GTX 1050 Ti"},
        {"model": "alexnet_conv", "phase": "training", "replica_batch": 128, "batch_time_ms": 315.0}]),
    ("output_vgga.log", "convnet-benchmarks", [
        {"model": "vgg11", "phase": "inference", "batch_time_ms": 158.0, "replica_batch": 64},
        {"model": "vgg11", "phase": "training", "batch_time_ms": 540.0}]),
    ("caffe.log", "convnet-benchmarks", [
        {"model": "googlenet", "framework": "caffe", "phase": "inference", "batch_time_ms": 40.0, "throughput": 800.0},
        {"model": "googlenet", "phase": "training", "batch_time_ms": 128.0, "throughput": 250.0}]),
    ("torch_fp16.log", "convnet-benchmarks", [
        {"model": "vgg11", "framework": "torch7", "precision": "fp16", "replica_batch": 64, "batch_time_ms": 140.33},
        {"phase": "training", "batch_time_ms": 471.85}]),
    ("neon_fp32.log", "convnet-benchmarks", [
        {"model": "", "framework": "neon", "precision": "fp32", "replica_batch": None, "batch_time_ms": 25.633, "p50_ms": 25.634},
        {"phase": "training", "batch_time_ms": 78.618}]),
    ("theano.log", "convnet-benchmarks", [
        {"model": "conv2d(channels=64,filters=128,image=64x64,kernel=9x9,stride=1)", "device": "Tesla K40c", "batch_time_ms": 149.0},
        {"phase": "training", "batch_time_ms": 561.0},
        {"status": "unsupported", "message": "('scikits.cuda is not installed',)"}]),
    ("1234.json", "cnn-benchmarks", [
        {"model": "resnet50", "phase": "inference", "replica_batch": 16, "throughput": 160.0, "device": "GeForce GTX 1080"},
        {"model": "resnet50", "phase": "training", "throughput": 40.0, "batch_time_ms": 400.0}]),
    ("logs_cpu-pip_cpu16_mnist_cnn_tensorflow.csv", "Keras CPU/GPU benchmark", [
        {"model": "mnist_cnn", "framework": "keras", "threads": 16, "device_type": "cpu", "throughput": None}]),
    ("results_GeForce_RTX_2080_Ti_1_gpus__half_model_train_benchmark.csv", "pytorch-gpu-benchmark", [
        {"model": "resnet18", "precision": "fp16", "phase": "training", "device": "GeForce RTX 2080 Ti", "batch_time_ms": 5.0,
         "replica_batch": None},
        {"model": "resnet50", "batch_time_ms": 11.0},
        {"model": "vgg16", "batch_time_ms": 8.25},
        {"model": "densenet121", "batch_time_ms": 9.25}]),
    ("benchmark-infer-amp-nhwc-pt112-cu113-rtx3090.csv", "timm", [
        {"model": "resnet50", "phase": "inference", "precision": "mixed", "framework_version": "1.12", "device": "GeForce RTX 3090",
         "replica_batch": 256, "throughput": 2560.0, "batch_time_ms": 100.0},
        {"model": "vit_b16", "throughput": 1024.0}]),
    ("gnmt.txt", "MLPerf training", [{"model": "gnmt", "phase": "training", "effective_batch": 2048, "throughput": None}]),
    ("result_0.txt", "MLPerf training", [
        {"model": "resnet50", "effective_batch": 512, "device_type": "tpu", "started": "2019-05-23T19:59:06+00:00"}]),
    ("mlperf_log_summary.txt", "MLPerf LoadGen", [{"phase": "inference", "throughput": 2.57, "batch_time_ms": 389.649678, "replica_batch": 1}]),
    ("dawn.json", "DAWNBench", [
        {"model": "resnet50", "framework": "pytorch", "framework_version": "0.4.1", "device": "Tesla V100", "phase": "training"}]),
    ("dawn_inference.json", "DAWNBench", [{"model": "resnet152", "phase": "inference", "batch_time_ms": 29.24, "device": "Tesla K80"}]),
    ("benchmark.json", "optimum-benchmark", [
        {"model": "bert_base", "phase": "training", "precision": "fp16", "device": "A100-SXM4-80GB", "replica_batch": 32,
         "throughput": 64.0, "batch_time_ms": 500.0, "peak_bytes": 9_000_000_000}]),
    ("perfzero.log", "PerfZero", [
        {"model": "resnet50", "precision": "fp16", "devices_per_node": 8, "throughput": 2700.5, "device": "Tesla V100-SXM2-16GB",
         "peak_bytes": 4269047808}]),
    ("benchmark_run.log", "TensorFlow benchmark logger", [
        {"model": "resnet50", "effective_batch": 256, "devices_per_node": 4, "throughput": 510.25, "data": "synthetic"}]),
    ("tf-train-throughput-fp32.csv", "Lambda tables", [
        {"model": "alexnet", "device": "GeForce RTX 3080", "throughput": 5665.0, "precision": "fp32", "devices_per_node": 1},
        {"model": "resnet50", "throughput": 426.0},
        {"model": "vgg16", "throughput": 241.0},
        {"model": "alexnet", "device": "GeForce RTX 2080 Ti", "devices_per_node": 2, "interconnect": "NVLink"},
        {"model": "resnet50", "throughput": 567.0}]),
    ("trace.json", "Kineto", [{"framework": "pytorch", "device": "A100-PG509-200", "batch_time_ms": 2.0, "throughput": None}]),
    ("trace.json.gz", "Kineto", [{"framework": "pytorch", "batch_time_ms": 2.0}]),
    ("DeepBench_P100_train.xlsx", "DeepBench", [
        {"model": "gemm(a_transpose=N,b_transpose=N,k=1760,m=1760,n=16)", "precision": "fp32", "batch_time_ms": 0.055,
         "device": "Tesla P100"},
        {"model": "lstm(hidden_units=512,n=16,timesteps=25)", "phase": "inference", "batch_time_ms": 1.5, "replica_batch": 16},
        {"phase": "training", "batch_time_ms": 4.0}]),
    ("llama.json", "llama-bench", [
        {"model": "some_7b_q4_k_medium", "framework": "llama.cpp", "phase": "inference", "device": "GeForce RTX 4080", "threads": 8,
         "throughput": 8000.0, "batch_time_ms": None, "effective_batch": None, "started": "2025-04-24T11:58:50+00:00"},
        {"throughput": 128.0, "batch_time_ms": None}]),
    ("llama.jsonl", "llama-bench", [
        {"model": "some_7b_q4_k_medium", "framework": "llama.cpp", "phase": "inference", "device": "GeForce RTX 4080", "threads": 8,
         "throughput": 8000.0, "batch_time_ms": None, "effective_batch": None, "started": "2025-04-24T11:58:50+00:00"},
        {"throughput": 128.0, "batch_time_ms": None}]),
    ("llama.csv", "llama-bench", [
        {"model": "some_7b_q4_k_medium", "framework": "llama.cpp", "phase": "inference", "device": "GeForce RTX 4080", "threads": 8,
         "throughput": 8000.0, "batch_time_ms": None, "effective_batch": None, "started": "2025-04-24T11:58:50+00:00"},
        {"throughput": 128.0, "batch_time_ms": None}]),
    ("vllm.json", "vLLM serving", [
        {"model": "some_8b", "framework": "vllm", "phase": "inference", "throughput": 2.0, "started": "2025-01-02T03:04:05+00:00"},
        {"throughput": 256.0}, {"throughput": 2304.0}]),
    ("inductor_torchbench_amp_training_cuda_performance.csv", "torchbench", [
        {"model": "resnet50", "framework": "pytorch", "phase": "training", "precision": "mixed", "replica_batch": 32,
         "batch_time_ms": 25.0, "throughput": 1280.0, "device_type": "gpu", "peak_bytes": 3_750_000_000},
        {"model": "hf_bert", "status": "crash", "throughput": None}]),
    ("pytest.json", "pytest-benchmark", [
        {"model": "test_step(kind=relu,width=64)", "batch_time_ms": 20.0, "throughput": None, "p50_ms": 19.0, "server": "box",
         "device": "Intel Xeon CPU @ 2.20GHz", "device_type": "cpu", "started": "2025-01-02T03:04:05+00:00"},
        {"model": "resnet18", "framework": "pytorch", "phase": "inference", "replica_batch": 8, "throughput": 80.0}]),
    ("0123-virtualenv-py3.12.json", "asv", [
        {"model": "suite.conv.time_forward(parameter_1='relu',parameter_2=1)", "batch_time_ms": 250.0, "throughput": None},
        {"model": "suite.conv.time_forward(parameter_1='gelu',parameter_2=1)", "batch_time_ms": 500.0},
        {"model": "suite.conv.time_forward(parameter_1='gelu',parameter_2=8)", "batch_time_ms": 1000.0},
        {"model": "suite.conv.peakmem_forward", "peak_bytes": 1048576, "batch_time_ms": None}]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "tool", "rows"), EXPECTED, ids=[name[:30] for name, _, _ in EXPECTED])
def test_a_format_is_recognised_and_read(imported, name, tool, rows):
    outcome = imported(name)
    assert (outcome.tool, outcome.reason) == (tool, "")
    found = [row_of(record) for record in outcome.records]
    assert len(found) == len(rows)
    for row, expected in zip(found, rows, strict=True):
        for column, value in expected.items():
            assert row[column] == (pytest.approx(value) if isinstance(value, float) else value), column
    for record in outcome.records:
        assert record.source and record.source.tool == tool and record.source.file == name
        assert record.source.line >= 1 and len(record.source.sha256) == 64


def test_every_importer_has_a_sample_here():
    tools = {tool for _, tool, _ in EXPECTED}
    assert {importer(name).TOOL for name in importer_names()} - tools == {"steptime table"}  # the reference set; see test_run


@pytest.mark.parametrize("name", ["dawn.tsv", "metric.log"])
def test_what_is_no_result_by_itself_is_read_with_its_neighbour(imported, name):
    outcome = imported(name)
    assert outcome.supplementary and not outcome.records


@pytest.mark.parametrize(
    ("name", "gone", "words"),
    [("dawn.tsv", "dawn.json", "JSON is not beside it"), ("metric.log", "benchmark_run.log", "not beside it"),
     ("dawn.json", "dawn.tsv", "not beside it"), ("benchmark_run.log", "metric.log", "not beside it")],
)  # fmt: skip
def test_a_half_without_its_other_half_is_refused(samples, imported, name, gone, words):
    (samples / gone).unlink()
    outcome = imported(name)
    assert words in outcome.reason and not outcome.supplementary and not outcome.records


@pytest.mark.parametrize(
    ("name", "change", "reason", "line"),
    [
        ("dlbs.log", ("results.time__=64.0", "results.time__=0.064"), "1000 x 6.4e-05 = 0.064, not the batch 64", 21),
        ("dlbs.log", ("throughput__=1000.0", "throughput__=-1000.0"), "mean_speed is -1000.0: it must be positive", 21),
        ("tf_cnn.log", ("total images/sec: 399.87", "total images/sec: nan"), "mean_speed is nan", 25),
        ("tf_cnn.log", ("total images/sec: 399.87", "total images/sec: 0.00"), "mean_speed is 0.0: it must be positive", 25),
        ("2018-06-04-p100:2:scratch", ("0.005725434", "5.725434"), "8732.96 x 5.72543 = 50000, which is no batch of MNIST", 3),
        ("1234.json", ("0.11", "-0.11"), "a step took -0.11 s", 1),
        ("1234.json", ("0.11", '"x"'), "forward_times is not a list of figures", 1),
        ("benchmark-infer-amp-nhwc-pt112-cu113-rtx3090.csv", ("100.0,256", "0.1,256"), "2560 x 0.0001 = 0.256, not the batch 256", 2),
        ("alexnet.log", ("0.131 +/- 0.001", "nan +/- 0.001"), "mean_seconds is nan", 6),
        ("logs_cpu-pip_cpu16_mnist_cnn_tensorflow.csv", ("1,10.0", "1,-10.0"), "epoch 1 took '-10.0' s", 3),
        ("gnmt.txt", ("1544235000.12", "1544232000.12"), "-580 s after run_start", 5),
        ("dlpg.csv", ("256.0,8000.0", "256.0,1000.0"), "1000 x 0.256 = 256, not the batch 2048", 2),
        ("trace.json", ('"dur": 1000}', '"dur": -1000}'), "took -0.001 s", 0),
        ("tf-train-throughput-fp32.csv", ("5665", "inf"), "mean_speed is inf", 2),
    ],
)  # fmt: skip
def test_figures_that_cannot_be_are_refused_with_the_arithmetic_and_the_line(imported, name, change, reason, line):
    outcome = imported(name, change)
    assert reason in outcome.reason
    assert outcome.line == line
    assert outcome.records == []


def test_a_kernels_rate_must_fit_its_time(samples):
    from steptime.importing.recognise import read

    rows = [list(row) for row in sample.DEEPBENCH_ROWS]
    rows[3][8] = 0.55
    path = samples / "DeepBench_wrong.xlsx"
    path.write_bytes(sample.workbook(rows, sample.DEEPBENCH_SPECS))
    outcome = read(path)
    assert outcome.reason == "2 x 1760 x 16 x 1760 / 0.55 ms = 0.1802 TFLOP/s, not 1.802"
    assert outcome.line == 4


def test_a_loss_that_is_nan_leaves_the_speed_valid_and_is_told(imported):
    (record,) = imported("logs_i7-GeForce_GTX_1080_Ti.logs_syn-replicated-fp16-2gpus_resnet50-64_throughput_1").records
    assert record.status == "ok" and record.printed.mean_speed == 399.87
    assert record.first_loss is None and record.source.notes == ["every printed loss is nan"]


def test_lambdas_thermal_log_and_metadata_are_read_with_the_throughput(samples, imported):
    name = "logs_i7-GeForce_GTX_1080_Ti.logs_syn-replicated-fp16-2gpus_resnet50-64_throughput_1"
    thermal = samples / name.replace("throughput", "thermal")
    thermal.write_text("1520000000, 999.9, 41, 55, \n1520000002, 999.9, 61, 58, \n")
    (samples / "logs_i7-GeForce_GTX_1080_Ti.logs_metadata").write_text(
        "Memory\t62.5GB\nCPU\ti7-6850K\nGPU 0\tx\nNvidia\t440.100\n"
    )
    (record,) = imported(name).records
    assert record.printed.others == {"max_temperature_celsius": 61.0}
    assert record.source.raw["nvidia"] == "440.100" and record.source.raw["cpu"] == "i7-6850K"
    assert imported(thermal.name).supplementary
    assert imported("logs_i7-GeForce_GTX_1080_Ti.logs_metadata").supplementary


def test_several_runs_in_one_log_are_several_records(samples, imported):
    (samples / "tf_cnn.log").write_text(sample.TF_CNN + sample.TF_CNN_OOM + sample.TF_CNN_CPU)
    outcome = imported("tf_cnn.log")
    assert [record.status for record in outcome.records] == ["ok", "out_of_memory", "ok"]
    assert [record.case.device for record in outcome.records] == ["gpu", "gpu", "cpu"]
    assert len({record.id for record in outcome.records}) == 3


def test_optimums_training_throughput_is_divided_by_the_steps_and_said_so(imported):
    (record,) = imported("benchmark.json").records
    assert record.printed.mean_speed == 64.0 and record.source.raw["throughput"] == "512.0"
    assert record.source.notes == [
        "printed 512 samples/s counts 8 steps in the time of one (512 x 0.5 s = 256 samples); divided by 8"
    ]
    (mended,) = imported("benchmark.json", ('"value": 512.0', '"value": 64.0')).records
    assert mended.printed.mean_speed == 64.0 and mended.source.notes == []


def test_last_value_wins_and_keys_may_contain_underscores_in_dlbs(imported):
    (record,) = imported("dlbs.log", ("results.time__=64.0", "results.time__=64.0\n__results.__x__y__=3")).records
    assert record.printed.mean_speed == 1000.0


def test_raw_steps_of_a_known_batch_are_kept_and_summarised_like_our_own(imported):
    inference, _ = imported("1234.json").records
    assert inference.steps.seconds == [0.1, 0.11, 0.09, 0.1]
    assert inference.summary.n == 4 and inference.summary.ci_low < 160 < inference.summary.ci_high


def test_a_profile_says_where_the_device_was_busy(imported):
    (record,) = imported("trace.json").records
    others = record.printed.others
    assert others["kernel_seconds"] == pytest.approx(0.0015)  # overlapping kernels count once
    assert others["memcpy_seconds"] == pytest.approx(0.00101)
    assert others["device_busy_share"] == pytest.approx(2.51 / 4.0)
    assert record.steps.seconds == [0.001, 0.003]


def test_training_time_and_accuracy_are_kept_where_there_is_no_speed(imported):
    assert imported("gnmt.txt").records[0].printed.others == {"run_seconds": 2420.0, "accuracy": 22.25, "evaluations": 1.0}
    dawn = imported("dawn.json").records[0].printed.others
    assert dawn["seconds_to_93_percent_top5"] == 3600.0 and dawn["run_seconds"] == 5400.0
    keras = imported("logs_cpu-pip_cpu16_mnist_cnn_tensorflow.csv").records[0].printed.others
    assert keras == {"epoch_seconds": 15.0, "epochs": 2.0, "run_seconds": 30.0, "validation_accuracy": 0.98}


def test_the_same_words_in_utf16_and_with_windows_line_ends_are_read_the_same(samples, imported):
    plain = imported("tf_cnn.log").records[0]
    for content in (
        sample.TF_CNN.encode("utf-16"),
        sample.TF_CNN.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + sample.TF_CNN.encode(),
    ):
        (samples / "tf_cnn.log").write_bytes(content)
        (record,) = imported("tf_cnn.log").records
        assert (record.case, record.printed) == (plain.case, plain.printed)


def test_prompt_and_generation_and_their_units_are_kept_apart(imported):
    prompt, generation = imported("llama.json").records
    assert (prompt.source.settings["part"], generation.source.settings["part"]) == ("prompt", "generation")
    assert prompt.source.settings["unit"] == "tokens/s" and prompt.source.settings["prompt_tokens"] == "512"
    assert prompt.printed.uncertainty == 50.0 and prompt.printed.others == {"test_seconds": 0.064}
    served = [record.source.settings for record in imported("vllm.json").records]
    assert [(settings["unit"], settings["part"]) for settings in served] == [
        ("requests/s", "prompt and generation"),
        ("tokens/s", "generation"),
        ("tokens/s", "prompt and generation"),
    ]
    assert served[0]["concurrency"] == "32" and served[0]["prompt_tokens"] == "1024"
    assert imported("vllm.json").records[0].printed.others["ttft_mean_seconds"] == 0.12


def test_a_compiler_is_told_by_the_name_of_the_file(samples, imported):
    plain = "inductor_torchbench_amp_training_cuda_performance.csv"
    other = "inductor_no_cudagraphs_huggingface_bfloat16_inference_cpu_performance.csv"
    (samples / plain).replace(samples / other)
    record = imported(other).records[0]
    assert record.source.settings == {"compile": "inductor_no_cudagraphs", "suite": "huggingface"}
    assert (record.case.phase, record.case.precision) == ("inference", "bf16")


def test_asvs_list_of_benchmarks_is_read_with_the_results(samples, imported):
    import json

    about = {"suite.Conv.peakmem_forward": {"code": "..", "unit": "bytes"}, "version": 2}
    (samples / "benchmarks.json").write_text(json.dumps(about))
    assert imported("benchmarks.json").supplementary
    assert imported("0123-virtualenv-py3.12.json").records[-1].printed.others == {"bytes": 1048576.0}
