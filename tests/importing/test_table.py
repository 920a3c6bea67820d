# ruff: noqa: E501 - a table is read by its lines
"""Real files of other tools, and what a person reads in them. Skipped where the files are not at hand.

Figures were read in the files themselves, with an editor; means of short lists were added up by hand, those of the
pytorch-gpu-benchmark files (50 values each) by a few lines of Python that know nothing of the importer.
"""

import os
import re
from pathlib import Path

import pytest

from steptime.importing.recognise import read
from steptime.importing.run import files_in
from steptime.store.rows import row_of

DATA = Path(os.environ.get("STEPTIME_TEST_DATA") or Path(__file__).parents[3] / "shared" / "data")

pytestmark = pytest.mark.skipif(not (DATA / "logs").is_dir(), reason=f"no logs of other tools in {DATA}; set STEPTIME_TEST_DATA")

MLBOX = "dlbs/tutorials_recipes_mlperf_mlbox_0"
INTRO, EXAMPLE = f"{MLBOX}1_introduction_logs_", f"{MLBOX}3_mlbox_mlbox_example_logs_"
CNN, TORCH, CONVNET = "cnn_benchmarks/outputs_", "pytorch_gpu_benchmark/", "convnet_benchmarks/"
TF, DEEP, KERAS, MLPERF = "tf_cnn_benchmarks/logs_", "deepbench/results_", "keras_cpu_gpu/logs_", "mlperf/"

# file; phase and model that pick the record; samples/s or ms (a step); batch of all replicas; devices; precision
# fmt: off
READ_BY_EYE = [
    (f"{TF}3960X-GeForce_RTX_3080_XLA.logs_syn-replicated-fp16-1gpus-inference_resnet50-48_throughput_1", "inference", "resnet50", 3330.51, None, 48, 1, "fp16"),
    (f"{TF}3960X-GeForce_RTX_3080_XLA.logs_syn-replicated-fp16-2gpus_alexnet-960_throughput_1", "training", "alexnet", 12002.26, None, 1920, 2, "fp16"),
    (f"{TF}3970X-Radeon-VII-Pro-PCIEGen3.logs_real-replicated-fp16-2gpus-distortions_resnet50-192_throughput_1", "training", "resnet50", 614.03, None, 384, 2, "fp16"),
    (f"{TF}3970X-Radeon-VII-Pro-PCIEGen4-10bit.logs_real-replicated-fp16-2gpus-distortions_resnet50-192_throughput_1", "training", "resnet50", 616.13, None, 384, 2, "fp16"),
    (f"{TF}3970X-Radeon-VII-Pro-PCIEGen4-10bit.logs_syn-replicated-fp32-1gpus_inception3-96_throughput_1", "training", "inception3", None, None, 96, 1, "fp32"),
    (f"{TF}7742-8xA100-SXM4-40GB_TF2_3.logs_syn-replicated-fp16-8gpus_resnet50-448_throughput_1", "training", "resnet50", 7932.14, None, 3584, 8, "fp16"),
    (f"{TF}7742-8xA100-SXM4-40GB_TF2_3.logs_syn-replicated-fp32-8gpus_alexnet-1792_throughput_1", "training", "alexnet", 52202.53, None, 14336, 8, "fp32"),
    (f"{TF}Processor-LambdaCloud_4xQuadro_RTX_6000.logs_syn-parameter_server-fp16-4gpus_inception3-256_throughput_1", "training", "inception3", None, None, 1024, 4, "fp16"),
    (f"{TF}Processor-LambdaCloud_4xQuadro_RTX_6000.logs_syn-parameter_server-fp16-4gpus_resnet152-128_throughput_1", "training", "resnet152", None, None, 512, 4, "fp16"),
    (f"{TF}i7-6850K-GeForce_GTX_1080_Ti.logs_syn-replicated-fp32-1gpus_vgg16-56_throughput_1", "training", "vgg16", 124.79, None, 56, 1, "fp32"),
    (f"{TF}i7-9750H-GeForce_RTX_2080_with_Max-Q_Design_XLA_TF1_15.logs_syn-replicated-fp32-1gpus_vgg16-48_throughput_1", "training", "vgg16", None, None, 48, 1, "fp32"),
    (f"{INTRO}alexnet_owt_4.log", "training", "alexnet_owt", 199.1375, 20.086624, 4, 1, "fp32"),
    (f"{INTRO}alexnet_owt_8.log", "training", "alexnet_owt", 379.275, 21.092875, 8, 1, "fp32"),
    (f"{INTRO}alexnet_owt_16.log", "training", "alexnet_owt", 706.025, 22.662087, 16, 1, "fp32"),
    (f"{INTRO}alexnet_owt_32.log", "training", "alexnet_owt", 1165.425, 27.457794, 32, 1, "fp32"),
    (f"{INTRO}resnet50_4.log", "training", "resnet50", 76.9, 52.015605, 4, 1, "fp32"),
    (f"{INTRO}resnet50_8.log", "training", "resnet50", 120.3, 66.500416, 8, 1, "fp32"),
    (f"{INTRO}resnet50_16.log", "training", "resnet50", 166.1, 96.327514, 16, 1, "fp32"),
    (f"{EXAMPLE}float16_resnet50_2.log", "training", "resnet50", 42.7375, 46.797309, 2, 1, "fp16"),
    (f"{EXAMPLE}float16_resnet50_8.log", "training", "resnet50", 141.175, 56.667257, 8, 1, "fp16"),
    (f"{EXAMPLE}float32_resnet50_4.log", "training", "resnet50", 80.85, 49.474335, 4, 1, "fp32"),
    (f"{EXAMPLE}float32_resnet50_16.log", "training", "resnet50", 165.775, 96.516363, 16, 1, "fp32"),
    (f"{CONVNET}caffe_output_alexnet.log", "inference", "alexnet", None, 42.405, 128, 1, None),
    (f"{CONVNET}caffe_output_vgg_a.log", "training", "vgg11", None, 680.247, 64, 1, None),
    (f"{CONVNET}cltorch_imagenet.out.txt", "training", "overfeat", None, 3261.19, 128, 1, None),
    (f"{CONVNET}nervana_output_fp16.log", "training", "alexnet", None, 78.618, 128, 1, "fp16"),
    (f"{CONVNET}tensorflow_output_alexnet.log", "training", "alexnet", None, 81.0, 128, 1, None),
    (f"{CONVNET}tensorflow_output_googlenet.log", "inference", "googlenet", None, 135.0, 128, 1, None),
    (f"{CONVNET}tensorflow_output_overfeat.log", "training", "overfeat", None, 279.0, 128, 1, None),
    (f"{CONVNET}tensorflow_output_vgga.log", "training", "vgg11", None, 540.0, 64, 1, None),
    (f"{CONVNET}theano_output.log", "inference", "conv2d(channels=384,filters=384,image=13x13,kernel=3x3,stride=1)", None, 28.0, 128, 1, None),
    (f"{CONVNET}torch7_imagenet_winners_output_cudnn_fp16.log", "training", "googlenet", None, 462.22, 128, 1, "fp16"),
    (f"{CNN}1080Ti_176422.json", "training", "resnet34", 81.75, 195.727, 16, 1, "fp32"),
    (f"{CNN}1080Ti_881357.json", "training", "resnet50", 57.66, 277.475, 16, 1, "fp32"),
    (f"{CNN}1080_cudnn50_243870.json", "training", "resnet152", 21.056, 759.88, 16, 1, "fp32"),
    (f"{CNN}1080_cudnn51_179512.json", "training", "resnet101", 70.86, 225.798, 16, 1, "fp32"),
    (f"{CNN}cpu_378556.json", "training", "resnet18", 7.207, 2220.0, 16, 1, "fp32"),
    (f"{CNN}cpu_731542.json", "training", "resnet34", 4.0351, 3965.2, 16, 1, "fp32"),
    (f"{CNN}titan_xm_cudnn4_224180.json", "training", "vgg16", 47.241, 338.686, 16, 1, "fp32"),
    (f"{CNN}titan_xm_cudnn50_75762.json", "training", "vgg19", 49.564, 322.814, 16, 1, "fp32"),
    (f"{CNN}titan_xm_cudnn51_66175.json", "training", "resnet101", 64.65, 247.488, 16, 1, "fp32"),
    (f"{CNN}titan_xp_cudnn50_232057.json", "training", "googlenet", 396.76, 40.3264, 16, 1, "fp32"),
    (f"{CNN}titan_xp_cudnn51_50941.json", "training", "resnet18", 507.31, 31.5387, 16, 1, "fp32"),
    (f"{CNN}1080Ti_cudnn51_202606.json", "training", "googlenet", 433.97, 36.8687, 16, 1, "fp32"),
    (f"{MLPERF}closed_NVIDIA_results_T4x20_resnet_Offline_performance_run_1_mlperf_log_summary.txt", "inference", "resnet50", 113592.0, None, None, None, None),
    (f"{MLPERF}closed_NVIDIA_results_T4x20_resnet_Server_performance_run_1_mlperf_log_summary.txt", "inference", "resnet50", 103522.98, None, None, None, None),
    (f"{MLPERF}closed_NVIDIA_results_T4x8_mobilenet_MultiStream_performance_run_1_mlperf_log_summary.txt", "inference", "mobilenet_v1", None, None, None, None, None),
    (f"{MLPERF}closed_dividiti_results_firefly-armnn-v19.08-neon_resnet_singlestream_performance_run_1_mlperf_log_summary.txt", "inference", "resnet50", 2.57, 389.649678, 1, 1, None),
    (f"{MLPERF}Google_results_tpu-v3-128_transformer_result_3.txt", "training", "transformer", None, None, 512, None, None),
    (f"{MLPERF}v0.5.0_google_cloud_v2.8_gnmt-tpuv2-8_results_tpu_gnmt_result_0.txt", "training", "gnmt", None, None, 2048, None, None),
    (f"{MLPERF}v0.5.0_intel_intel_ncf_submission_results_skx8180_ncf_result_15.txt", "training", "ncf", None, None, None, None, None),
    (f"{TORCH}new_results_GeForce_RTX_2080_Ti_1_gpus__double_model_train_benchmark.csv", "training", "resnet50", None, 1047.68, None, 1, "fp64"),
    (f"{TORCH}new_results_GeForce_RTX_2080_Ti_1_gpus__float_model_inference_benchmark.csv", "inference", "resnet50", None, 17.3934, None, 1, "fp32"),
    (f"{TORCH}new_results_GeForce_RTX_2080_Ti_1_gpus__float_model_train_benchmark.csv", "training", "resnet50", None, 56.6827, None, 1, "fp32"),
    (f"{TORCH}new_results_GeForce_RTX_2080_Ti_1_gpus__half_model_inference_benchmark.csv", "inference", "resnet50", None, 9.92906, None, 1, "fp16"),
    (f"{TORCH}new_results_GeForce_RTX_2080_Ti_1_gpus__half_model_train_benchmark.csv", "training", "resnet50", None, 40.3133, None, 1, "fp16"),
    (f"{TORCH}results_dgx-a100_A100-SXM4-40GB_1_gpus__double_model_inference_benchmark.csv", "inference", "resnet50", None, 25.095, None, 1, "fp64"),
    (f"{TORCH}results_dgx-a100_A100-SXM4-40GB_1_gpus__half_model_inference_benchmark.csv", "inference", "resnet50", None, 8.49427, None, 1, "fp16"),
    (f"{TORCH}results_dgx-a100_A100-SXM4-40GB_1_gpus__half_model_train_benchmark.csv", "training", "resnet50", None, 30.9177, None, 1, "fp16"),
    (f"{DEEP}train_DeepBench_NV_P100.xlsx", "training", "gemm(a_transpose=N,b_transpose=N,k=1760,m=1760,n=16)", None, 0.055, None, 1, "fp32"),
    (f"{DEEP}train_DeepBench_AMD_MI25.xlsx", "training", "gemm(a_transpose=N,b_transpose=N,k=1760,m=1760,n=16)", None, 0.059, None, 1, "fp32"),
    (f"{DEEP}train_DeepBench_IA_KNL7250.xlsx", "training", "gemm(a_transpose=N,b_transpose=N,k=1760,m=1760,n=7000)", None, 10.0117, None, 1, "fp32"),
    (f"{DEEP}inference_DeepBench_NV_T4.xlsx", "inference", "gemm(a_transpose=N,b_transpose=N,k=2048,m=5124,n=700)", None, 0.999, None, 1, "mixed"),
    (f"{DEEP}inference_device_DeepBench_Raspberry_Pi_3.xlsx", "inference", "gemm(a_transpose=N,b_transpose=N,k=2048,m=5124,n=700)", None, 815.305, None, 1, "int8"),
    ("tf_cnn_benchmarks/tf-train-throughput-fp16.json", "training", "alexnet", 7047.0, None, None, 1, "fp16"),
    ("tf_cnn_benchmarks/tf-train-throughput-fp32.csv", "training", "inception4", 101.0, None, 12, 1, "fp32"),
]
# fmt: on


@pytest.mark.parametrize(
    ("name", "phase", "model", "speed", "milliseconds", "batch", "devices", "precision"),
    READ_BY_EYE,
    ids=[line[0][-60:] for line in READ_BY_EYE],
)
def test_what_is_imported_is_what_a_person_reads(name, phase, model, speed, milliseconds, batch, devices, precision):
    outcome = read(DATA / "logs" / name)
    rows = [row_of(record) for record in outcome.records]
    row = next((row for row in rows if (row["phase"], row["model"]) == (phase, model)), None)
    assert row, f"{outcome.reason} {[(row['phase'], row['model']) for row in rows][:5]}"
    assert (row["effective_batch"], row["devices_per_node"], row["precision"]) == (batch, devices, precision)
    if speed is not None:
        assert row["throughput"] == pytest.approx(speed, rel=2e-4 if "cnn_benchmarks/out" in name else 1e-12)
    if milliseconds is not None:
        assert row["batch_time_ms"] == pytest.approx(milliseconds, rel=2e-5)
    if speed is None and milliseconds is None and row["status"] == "ok":
        assert row["throughput"] is None and row["batch_time_ms"] is None


def test_the_table_has_sixty_files():
    assert len({line[0] for line in READ_BY_EYE}) >= 60


OTHER_FIGURES = [
    (f"{KERAS}gpu_imdb_bidirectional_lstm_tensorflow.csv", "epoch_seconds", 307.354),
    (f"{KERAS}gpu_imdb_fasttext_tensorflow.csv", "epoch_seconds", 66.3039),
    (f"{KERAS}cpu-pip_cpu64_imdb_bidirectional_lstm_tensorflow.csv", "epoch_seconds", 136.268),
    (f"{KERAS}cpu-pip_cpu8_imdb_fasttext_tensorflow.csv", "epoch_seconds", 351.264),
    (f"{MLPERF}Google_results_tpu-v3-128_transformer_result_3.txt", "run_seconds", 1558641753.786 - 1558641546.929),
    (f"{MLPERF}v0.5.0_google_cloud_v2.8_gnmt-tpuv2-8_results_tpu_gnmt_result_0.txt", "run_seconds", 2420.6533),
    (f"{MLPERF}v0.5.0_intel_intel_ncf_submission_results_skx8180_ncf_result_15.txt", "run_seconds", 1575.783),
    (f"{MLPERF}v0.5.0_intel_intel_ncf_submission_results_skx8180_ncf_result_15.txt", "accuracy", 0.63557005),
    (
        f"{MLPERF}closed_NVIDIA_results_T4x8_mobilenet_MultiStream_performance_run_1_mlperf_log_summary.txt",
        "samples_per_query",
        6320.0,
    ),
    (
        f"{TF}7742-8xA100-SXM4-40GB_TF2_3.logs_syn-replicated-fp32-8gpus_alexnet-1792_throughput_1",
        "max_temperature_celsius",
        66.0,
    ),
]


@pytest.mark.parametrize(("name", "figure", "value"), OTHER_FIGURES, ids=[f"{line[0][-40:]}:{line[1]}" for line in OTHER_FIGURES])
def test_figures_that_are_no_speed_are_read_as_well(name, figure, value):
    (record,) = read(DATA / "logs" / name).records
    found = record.printed.others[figure]
    assert found == pytest.approx(value, rel=2e-5)


FAILED = [
    ("inception3-96_throughput_1", "crash", "ends before the first step"),
    ("inception3-256_throughput_1", "crash", "libforestprotos.so: cannot open shared object file"),
    ("resnet152-128_throughput_1", "crash", "ends before the first step"),
    ("vgg16-48_throughput_1", "out_of_memory", "Out of memory while trying to allocate"),
]


@pytest.mark.parametrize(("ending", "status", "words"), FAILED)
def test_failures_are_records_with_their_reason(ending, status, words):
    (path,) = (DATA / "logs" / "tf_cnn_benchmarks").glob(f"*{ending}")
    (record,) = read(path).records
    assert record.status == status and words in record.message


def test_every_tf_cnn_benchmarks_total_agrees_to_the_printed_digit():
    count = 0
    for path in files_in([DATA / "logs"]):
        content = path.read_bytes()
        for printed in re.findall(rb"^total images/sec: (\S+)", content, re.MULTILINE):
            (record,) = read(path).records
            assert record.printed.mean_speed == float(printed)
            assert f"{record.printed.mean_speed:.2f}" == printed.decode()
            count += 1
    assert count >= 7


@pytest.mark.slow
def test_every_file_is_imported_or_refused_with_a_reason():
    outcomes = [read(path) for path in files_in([DATA / "logs"])]
    assert len(outcomes) > 200
    examine(outcomes)
    assert sum(1 for outcome in outcomes if outcome.records) > 180


@pytest.mark.real
def test_every_trace_is_a_profile_or_refused_with_a_reason():
    outcomes = [read(path) for path in files_in([DATA / "traces"])]
    examine(outcomes)
    profiles = [outcome.records[0] for outcome in outcomes if outcome.tool == "Kineto" and outcome.records]
    assert len(profiles) == 9
    (early,) = (p for p in profiles if "num_workers_0" in p.source.file)
    assert len(early.steps.seconds) == 6  # ProfilerStep#5 to #10


def examine(outcomes):
    for outcome in outcomes:
        assert bool(outcome.records) != bool(outcome.reason), outcome.path
        assert "not understood" not in outcome.reason, f"{outcome.path}: {outcome.reason}"
