# ruff: noqa: E501 - a table is read by its lines
"""Real files of other tools, and what a person reads in them. Skipped where the files are not at hand.

Figures were read in the files themselves, with an editor; means of short lists were added up by hand, those of longer ones
(pytorch-gpu-benchmark, cnn-benchmarks, Keras) by a few lines of Python that know nothing of the importer. Beyond the files
that were chosen for what is special in them, sixty were drawn at random. Of formats that hold many results in few files, every
file is here, and lines of them were drawn at random over all formats, the traces included.
"""

import os
import re
from collections import defaultdict
from pathlib import Path

import pytest

from steptime.importing.recognise import read
from steptime.importing.run import files_in
from steptime.store.columns import CONFIGURING, row_of

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
    (f"{DEEP}inference_DeepBench_NV_T4.xlsx", "inference", "gemm(a_transpose=N,b_transpose=N,k=2048,m=5124,n=700)", None, 0.999, None, 1, "int8"),
    (f"{DEEP}inference_device_DeepBench_Raspberry_Pi_3.xlsx", "inference", "gemm(a_transpose=N,b_transpose=N,k=2048,m=5124,n=700)", None, 815.305, None, 1, "int8"),
    ("tf_cnn_benchmarks/tf-train-throughput-fp16.json", "training", "alexnet", 7047.0, None, None, 1, "fp16"),
    ("tf_cnn_benchmarks/tf-train-throughput-fp32.csv", "training", "inception4", 101.0, None, 12, 1, "fp32"),
    (f"{CNN}1080Ti_430986.json", "inference", "resnet18", 319.77, 50.0362, 16, 1, "fp32"),
    (f"{CNN}1080Ti_658244.json", "training", "googlenet", 112.96, 141.638, 16, 1, "fp32"),
    (f"{CNN}1080Ti_cudnn51_453685.json", "inference", "alexnet", 3712.4, 4.30984, 16, 1, "fp32"),
    (f"{CNN}1080Ti_cudnn51_474549.json", "inference", "vgg19", 332.3, 48.149, 16, 1, "fp32"),
    (f"{CNN}1080Ti_cudnn51_644777.json", "training", "vgg16", 124.86, 128.14, 16, 1, "fp32"),
    (f"{CNN}1080Ti_cudnn51_677177.json", "training", "resnet18", 488.06, 32.7829, 16, 1, "fp32"),
    (f"{CNN}1080_cudnn50_327519.json", "inference", "googlenet", 992.77, 16.1165, 16, 1, "fp32"),
    (f"{CNN}1080_cudnn50_473403.json", "training", "googlenet", 96.804, 165.282, 16, 1, "fp32"),
    (f"{CNN}1080_cudnn50_511688.json", "training", "resnet152", 48.742, 328.261, 16, 1, "fp32"),
    (f"{CNN}1080_cudnn50_640169.json", "inference", "resnet50", 145.74, 109.786, 16, 1, "fp32"),
    (f"{CNN}1080_cudnn50_670759.json", "inference", "resnet18", 373.04, 42.8908, 16, 1, "fp32"),
    (f"{CNN}1080_cudnn50_899060.json", "training", "resnet34", 72.487, 220.729, 16, 1, "fp32"),
    (f"{CNN}1080_cudnn50_934124.json", "training", "resnet50", 51.682, 309.586, 16, 1, "fp32"),
    (f"{CNN}1080_cudnn50_934144.json", "training", "alexnet", 690.79, 23.162, 16, 1, "fp32"),
    (f"{CNN}1080_cudnn50_957290.json", "training", "resnet18", 336.7, 47.5196, 16, 1, "fp32"),
    (f"{CNN}1080_cudnn50_988163.json", "training", "vgg16", 30.626, 522.427, 16, 1, "fp32"),
    (f"{CNN}1080_cudnn51_325985.json", "inference", "vgg19", 232.06, 68.9475, 16, 1, "fp32"),
    (f"{CNN}1080_cudnn51_432032.json", "training", "resnet152", 50.907, 314.302, 16, 1, "fp32"),
    (f"{CNN}1080_cudnn51_624722.json", "training", "resnet34", 221.96, 72.0859, 16, 1, "fp32"),
    (f"{CNN}cpu_189638.json", "inference", "resnet101", 3.6241, 4414.91, 16, 1, "fp32"),
    (f"{CNN}cpu_655060.json", "training", "resnet50", 2.4143, 6627.25, 16, 1, "fp32"),
    (f"{CNN}titan_xm_cudnn4_382014.json", "inference", "googlenet", 760.62, 21.0356, 16, 1, "fp32"),
    (f"{CNN}titan_xm_cudnn4_629022.json", "training", "resnet50", 89.464, 178.843, 16, 1, "fp32"),
    (f"{CNN}titan_xm_cudnn50_122538.json", "training", "alexnet", 631.69, 25.3287, 16, 1, "fp32"),
    (f"{CNN}titan_xm_cudnn50_593076.json", "inference", "resnet200", 94.104, 170.026, 16, 1, "fp32"),
    (f"{CNN}titan_xm_cudnn50_717778.json", "inference", "resnet18", 936.79, 17.0796, 16, 1, "fp32"),
    (f"{CNN}titan_xm_cudnn50_718808.json", "inference", "googlenet", 830.36, 19.2688, 16, 1, "fp32"),
    (f"{CNN}titan_xm_cudnn50_883354.json", "inference", "vgg16", 211.08, 75.8016, 16, 1, "fp32"),
    (f"{CNN}titan_xm_cudnn50_885142.json", "inference", "resnet152", 128.13, 124.876, 16, 1, "fp32"),
    (f"{CNN}titan_xm_cudnn51_107545.json", "inference", "vgg19", 74.101, 215.922, 16, 1, "fp32"),
    (f"{CNN}titan_xm_cudnn51_311261.json", "inference", "resnet152", 128.99, 124.039, 16, 1, "fp32"),
    (f"{CNN}titan_xm_cudnn51_365430.json", "training", "resnet152", 16.559, 966.218, 16, 1, "fp32"),
    (f"{CNN}titan_xm_cudnn51_539546.json", "inference", "resnet18", 948.43, 16.87, 16, 1, "fp32"),
    (f"{CNN}titan_xm_cudnn51_785346.json", "inference", "vgg16", 92.696, 172.607, 16, 1, "fp32"),
    (f"{CNN}titan_xm_cudnn51_794544.json", "inference", "resnet101", 61.426, 260.478, 16, 1, "fp32"),
    (f"{CNN}titan_xm_cudnn51_988380.json", "training", "resnet200", 28.911, 553.419, 16, 1, "fp32"),
    (f"{CNN}titan_xp_cudnn50_816352.json", "inference", "resnet34", 946.16, 16.9104, 16, 1, "fp32"),
    (f"{CNN}titan_xp_cudnn51_114516.json", "training", "vgg16", 124.4, 128.622, 16, 1, "fp32"),
    (f"{CNN}titan_xp_cudnn51_880068.json", "training", "googlenet", 111.61, 143.359, 16, 1, "fp32"),
    (f"{CNN}1080_cudnn51_510304.json", "training", "vgg16", 87.532, 182.79, 16, 1, "fp32"),
    (f"{CNN}titan_xm_cudnn4_955986.json", "inference", "resnet200", 78.618, 203.5165, 16, 1, "fp32"),
    (f"{CNN}titan_xm_cudnn50_149024.json", "training", "resnet34", 173.95, 91.97786, 16, 1, "fp32"),
    (f"{CNN}titan_xm_cudnn50_907527.json", "inference", "resnet50", 284.17, 56.3034, 16, 1, "fp32"),
    (f"{TORCH}results_dgx-a100_A100-SXM4-40GB_1_gpus__double_model_train_benchmark.csv", "training", "resnet50", None, 91.7992, None, 1, "fp64"),
    ("timm/benchmark-infer-amp-nhwc-pt240-cu124-rtx4090.csv", "inference", "vit_b16", 2843.0, 180.077, 512, 1, "mixed"),
    ("timm/benchmark-infer-fp32-nchw-pt240-cpu-i9_10940x-dynamo.csv", "inference", "vit_b16", 32.37, 30.879, 1, 1, "fp32"),
    ("timm/benchmark-infer-amp-nchw-pt291-cu130-pro6000maxq-dynamo.csv", "inference", "vit_b16", 4741.58, 431.866, 2048, 1, "mixed"),
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


# file; line (of a sheet: row); phase, model and precision that pick the record; samples/s; ms; batch of all replicas
# fmt: off
TIMM_GPU, TIMM_CPU = "timm/benchmark-infer-amp-nhwc-pt240-cu124-rtx4090.csv", "timm/benchmark-infer-fp32-nchw-pt240-cpu-i9_10940x-dynamo.csv"
TIMM_PRO = "timm/benchmark-infer-amp-nchw-pt291-cu130-pro6000maxq-dynamo.csv"
A100, TURING = f"{TORCH}results_dgx-a100_A100-SXM4-40GB_1_gpus__", f"{TORCH}new_results_GeForce_RTX_2080_Ti_1_gpus__"
TABLE_16, TABLE_32 = "tf_cnn_benchmarks/tf-train-throughput-fp16.json", "tf_cnn_benchmarks/tf-train-throughput-fp32.csv"
CONVOLUTION = "conv2d(channels=3,filters=96,image=128x128,kernel=11x11,stride=1)"
DRAWN_LINES = [
    (TIMM_PRO, 554, "inference", "cspresnet50d", "mixed", 9099.9, 225.022, 2048),
    (TIMM_PRO, 1393, "inference", "xcit_medium_24_p8_224", "mixed", 868.11, 2359.085, 2048),
    (TIMM_PRO, 1531, "inference", "maxvit_large_tf_384", "mixed", 319.52, 300.4, 96),
    (TIMM_GPU, 691, "inference", "beit_base_patch16_224", "mixed", 2706.18, 189.182, 512),
    (TIMM_GPU, 1285, "inference", "deit3_huge_patch14_224", "mixed", 333.48, 1535.294, 512),
    (TIMM_GPU, 1437, "inference", "tf_efficientnet_l2", "mixed", 29.23, 1642.279, 48),
    (TIMM_CPU, 228, "inference", "vit_wee_patch16_reg1_gap_256", "fp32", 95.45, 10.462, 1),
    (TIMM_CPU, 404, "inference", "resnet50t", "fp32", 63.72, 15.678, 1),
    (TIMM_CPU, 1157, "inference", "maxvit_rmlp_base_rw_224", "fp32", 11.49, 87.018, 1),
    (TABLE_32, 9, "training", "resnet50", "fp32", 554.0, None, 256),
    (TABLE_32, 13, "training", "resnet50", "fp32", 568.0, None, 112),
    (TABLE_32, 17, "training", "vgg16", "fp32", 275.0, None, 112),
    (TABLE_32, 19, "training", "inception3", "fp32", 1475.0, None, 512),
    (TABLE_32, 20, "training", "alexnet", "fp32", 4184.0, None, 512),
    (TABLE_32, 21, "training", "alexnet", "fp32", 5987.0, None, 1024),
    (TABLE_16, 13, "training", "vgg16", "fp16", 814.0, None, None),
    (TABLE_16, 31, "training", "inception4", "fp16", 848.0, None, None),
    (TABLE_16, 31, "training", "resnet50", "fp16", 2832.0, None, None),
    (TABLE_16, 36, "training", "inception3", "fp16", 157.0, None, None),
    (TABLE_16, 36, "training", "resnet152", "fp16", 110.0, None, None),
    (f"{CONVNET}caffe_output_alexnet.log", 445, "training", "alexnet", None, None, 128.729, 128),
    (f"{CONVNET}caffe_output_vgg_a.log", 647, "inference", "vgg11", None, None, 222.822, 64),
    (f"{CONVNET}cltorch_imagenet.out.txt", 16, "inference", "alexnet", None, None, 388.69, 128),
    (f"{CONVNET}cltorch_imagenet.out.txt", 26, "training", "vgg11", None, None, 3437.85, 64),
    (f"{CONVNET}nervana_output_fp16.log", 13, "training", "overfeat", "fp16", None, 176.85, 128),
    (f"{CONVNET}nervana_output_fp16.log", 18, "inference", "vgg11", "fp16", None, 82.345, 64),
    (f"{CONVNET}nervana_output_fp16.log", 27, "training", "googlenet", "fp16", None, 230.05, 128),
    (f"{CONVNET}tensorflow_output_alexnet.log", 24, "inference", "alexnet", None, None, 26.0, 128),
    (f"{CONVNET}tensorflow_output_googlenet.log", 36, "training", "googlenet", None, None, 445.0, 128),
    (f"{CONVNET}tensorflow_output_overfeat.log", 24, "inference", "overfeat", None, None, 90.0, 128),
    (f"{CONVNET}tensorflow_output_vgga.log", 24, "inference", "vgg11", None, None, 158.0, 64),
    (f"{CONVNET}theano_output.log", 25, "inference", CONVOLUTION, None, None, 38.0, 128),
    (f"{CONVNET}theano_output.log", 27, "training", CONVOLUTION, None, None, 38.0 + 53.0 + 83.0, 128),
    (f"{CONVNET}theano_output.log", 101, "training", "conv2d(channels=128,filters=128,image=16x16,kernel=7x7,stride=1)", None, None, 7.0 + 7.0 + 8.0, 128),
    (f"{CONVNET}torch7_imagenet_winners_output_cudnn_fp16.log", 6, "inference", "alexnet", "fp16", None, 24.87, 128),
    (f"{CONVNET}torch7_imagenet_winners_output_cudnn_fp16.log", 8, "training", "alexnet", "fp16", None, 71.66, 128),
    (f"{CONVNET}torch7_imagenet_winners_output_cudnn_fp16.log", 20, "inference", "vgg11", "fp16", None, 140.33, 64),
    (f"{DEEP}train_DeepBench_AMD_MI25.xlsx", 101, "training", "gemm(a_transpose=N,b_transpose=N,k=1024,m=3072,n=48000)", "fp32", None, 38.049, None),
    (f"{DEEP}train_DeepBench_AMD_MI25.xlsx", 328, "inference", "gru(hidden_units=2560,n=32,timesteps=1500)", "fp32", None, 730.378, 32),
    (f"{DEEP}train_DeepBench_AMD_MI25.xlsx", 328, "training", "gru(hidden_units=2560,n=32,timesteps=1500)", "fp32", None, 730.378 + 680.564, 32),
    (f"{DEEP}train_DeepBench_IA_KNL7250.xlsx", 103, "training", "gemm(a_transpose=N,b_transpose=N,k=2048,m=6144,n=48000)", "fp32", None, 285.1283, None),
    (f"{DEEP}train_DeepBench_NV_P100.xlsx", 54, "training", "gemm(a_transpose=N,b_transpose=N,k=2560,m=5124,n=9124)", "fp16", None, 28.355, None),
    (f"{DEEP}train_DeepBench_NV_P100.xlsx", 104, "training", "gemm(a_transpose=N,b_transpose=N,k=1536,m=4608,n=48000)", "fp16", None, 76.993, None),
    (f"{DEEP}train_DeepBench_NV_P100.xlsx", 258, "inference", "conv2d(c=512,h=28,horizontal_stride=1,k=128,n=16,pad_h=0,pad_w=0,r=1,s=1,vertical_stride=1,w=28)", "fp32", None, 0.237, 16),
    (f"{DEEP}train_DeepBench_NV_P100.xlsx", 296, "training", "lstm(hidden_units=512,n=16,timesteps=25)", "fp32", None, 3.379, 16),
    (f"{DEEP}train_DeepBench_NV_P100.xlsx", 360, "training", "all_reduce(size_floats=6553600)", "fp32", None, 23.30631, None),
    (f"{DEEP}inference_device_DeepBench_Raspberry_Pi_3.xlsx", 40, "inference", "conv2d(c=512,h=28,horizontal_stride=2,k=256,pad_h=0,pad_w=0,r=1,s=1,vertical_stride=2,w=28)", "fp32", None, 168.217, 1),
    (f"{DEEP}inference_device_DeepBench_Raspberry_Pi_3.xlsx", 44, "inference", "conv2d(c=256,h=14,horizontal_stride=1,k=1024,pad_h=0,pad_w=0,r=1,s=1,vertical_stride=1,w=14)", "fp32", None, 652.131, 1),
]
# fmt: on


@pytest.mark.parametrize(
    ("name", "line", "phase", "model", "precision", "speed", "milliseconds", "batch"),
    DRAWN_LINES,
    ids=[f"{line[0][-40:]}:{line[1]}-{line[2]}-{line[3][:12]}" for line in DRAWN_LINES],
)
def test_lines_that_were_drawn_at_random_are_read(name, line, phase, model, precision, speed, milliseconds, batch):
    at_line = [row_of(record) for record in read(DATA / "logs" / name).records if record.source.line == line]
    rows = [row for row in at_line if (row["phase"], row["model"], row["precision"]) == (phase, model, precision)]
    assert len(rows) == 1, [(row["phase"], row["model"], row["precision"]) for row in at_line]
    assert rows[0]["effective_batch"] == batch
    if speed is not None:
        assert rows[0]["throughput"] == speed
    if milliseconds is not None:
        assert rows[0]["batch_time_ms"] == pytest.approx(milliseconds, rel=1e-12)


# column of the file; mean of its fifty times in ms
DRAWN_COLUMNS = [
    (f"{TURING}double_model_train_benchmark.csv", "resnet18", 409.84816551208496),
    (f"{TURING}float_model_inference_benchmark.csv", "wide_resnet50_2", 32.15373516082764),
    (f"{TURING}float_model_train_benchmark.csv", "mnasnet0_75", 33.86252403259277),
    (f"{TURING}half_model_train_benchmark.csv", "squeezenet1_1", 14.273314476013184),
    (f"{A100}double_model_inference_benchmark.csv", "mnasnet1_0", 7.85496711730957),
    (f"{A100}double_model_train_benchmark.csv", "mnasnet1_3", 44.02514934539795),
    (f"{A100}half_model_inference_benchmark.csv", "mobilenet_v2", 6.140847206115723),
    (f"{A100}half_model_train_benchmark.csv", "squeezenet1_1", 11.971559524536133),
]


@pytest.mark.parametrize(("name", "model", "milliseconds"), DRAWN_COLUMNS, ids=[f"{c[0][-45:]}:{c[1]}" for c in DRAWN_COLUMNS])
def test_columns_that_were_drawn_at_random_are_read(name, model, milliseconds):
    (row,) = [row for row in map(row_of, read(DATA / "logs" / name).records) if row["model"] == model]
    assert row["batch_time_ms"] == pytest.approx(milliseconds, rel=1e-9)


@pytest.mark.parametrize(("file", "nodes", "devices"), [("NV_P100", 1, 16), ("IA_KNL7250", 16, 1)])
def test_an_all_reduce_is_over_cards_or_over_nodes_as_its_column_says(file, nodes, devices):
    """'# chips / accelerator cards' and '# nodes (1 process per node)'."""
    rows = map(row_of, read(DATA / "logs" / f"{DEEP}train_DeepBench_{file}.xlsx").records)
    places = {(row["nodes"], row["devices_per_node"]) for row in rows if row["model"].startswith("all_reduce(")}
    assert (nodes, devices) in places and len({min(place) for place in places}) == 1


# the lengths of ProfilerStep# events in ms, in the trace's own order; seconds with a kernel at work, overlapping ones once
TRACES = [
    ("hta/amd_trace__mi250_minitoy_train_ROCm6_2_kineto.json.gz", [9.288291, 0.049073], 110.881e-6),
    ("hta/cpu_only__rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz", [210.109162], None),
    ("hta/critical_path__alexnet__benchmark_result_2869224_1695835535_trace.json.gz", [], 10630e-6),
    ("hta/rank_non_gpu__rank_non_gpu.json.gz", [75.473], None),
    ("hta/timeline_analysis__sampled_rank-0.json.gz", [607.312, 622.928], 547303e-6),
    ("kineto/samples__resnet50_num_workers_0__worker0.pt.trace.2d19c63.json.gz", [211.206, 211.112, 210.811, 216.799, 220.457, 212.28], 635237e-6),
    ("kineto/samples__resnet50_num_workers_4__worker0.pt.trace.29dba67.json.gz", [151.728, 118.121, 108.411, 124.117, 115.035, 152.072], 649808e-6),
]  # fmt: skip


@pytest.mark.skipif(not (DATA / "traces").is_dir(), reason=f"no traces in {DATA}")
@pytest.mark.parametrize(("name", "steps", "kernels"), TRACES, ids=[trace[0][:40] for trace in TRACES])
def test_the_steps_and_kernels_of_a_trace_are_those_that_a_person_reads(name, steps, kernels):
    (record,) = read(DATA / "traces" / name).records
    assert [1e3 * seconds for seconds in (record.steps.seconds if record.steps else [])] == pytest.approx(steps, rel=1e-9)
    figures = record.printed.others
    assert figures.get("kernel_seconds") == (None if kernels is None else pytest.approx(kernels, rel=1e-6))
    assert ("device_busy_share" in figures) == (kernels is not None), "a share of a device that is not there"


# batches of all GPUs, of which another table has the speeds
@pytest.mark.parametrize(
    ("line", "gpu", "devices", "model", "speed", "batch"),
    [
        (2, "GeForce RTX 3080", 1, "alexnet", 5665.0, 448),
        (3, "GeForce RTX 3080", 2, "resnet152", 219.0, 48),
        (5, "A100-PCIE-40GB", 1, "resnet50", 953.0, 224),
    ],
)
def test_a_table_of_batches_is_read_with_its_speeds(line, gpu, devices, model, speed, batch):
    folder = DATA / "logs" / "tf_cnn_benchmarks"
    assert read(folder / "tf-train-bs-fp32.csv").supplementary and read(folder / "tf-train-bs-fp32.json").supplementary
    records = [
        r for r in read(folder / "tf-train-throughput-fp32.csv").records if r.source.line == line and r.case.model == model
    ]
    (row,) = map(row_of, records)
    found = (row["device"], row["replicas"], row["throughput"], row["effective_batch"])
    assert found == (gpu, devices, speed, batch)


# line; size; compiler; images/s; ms; batch
TIMM = [
    ("benchmark-infer-amp-nhwc-pt240-cu124-rtx4090.csv", "GeForce RTX 4090", "eager", "nhwc", {155: ("160", 10141.36, 50.475, 512), 361: ("224", 5088.39, 100.61, 512)}),
    ("benchmark-infer-fp32-nchw-pt240-cpu-i9_10940x-dynamo.csv", "Intel Core i9-10940X", "dynamo", "nchw", {306: ("160", 77.2, 12.938, 1), 489: ("288", 55.91, 17.869, 1)}),
    ("benchmark-infer-amp-nchw-pt291-cu130-pro6000maxq-dynamo.csv", "RTX PRO 6000 Blackwell Max-Q", "dynamo", "nchw", {190: ("160", 23966.59, 85.407, 2048), 404: ("224", 12188.25, 167.988, 2048)}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "device", "compiler", "layout", "lines"), TIMM, ids=[line[0] for line in TIMM])
def test_sizes_of_images_and_compilers_are_read_with_a_speed(name, device, compiler, layout, lines):
    rows = {record.source.line: row_of(record) for record in read(DATA / "logs" / "timm" / name).records}
    for line, (size, speed, milliseconds, batch) in lines.items():
        row = rows[line]
        assert (row["model"], row["device"], row["compile"], row["layout"]) == ("resnet50", device, compiler, layout)
        assert (row["image_size"], row["throughput"], row["effective_batch"]) == (size, speed, batch)
        assert row["batch_time_ms"] == pytest.approx(milliseconds, rel=1e-12)


def test_the_gpu_of_a_dlbs_log_is_what_tensorflow_printed():
    for path in (DATA / "logs" / "dlbs").glob("*_logs_*.log"):
        (record,) = read(path).records
        assert row_of(record)["device"] == "GeForce RTX 2080 SUPER"


def test_the_two_cards_called_titan_x_are_two_devices():
    """The suite has folders titan_xm and titan_xp, for Maxwell and Pascal; the driver's names say no more than this."""
    for folder, device in (("titan_xm", "GeForce GTX TITAN X"), ("titan_xp", "TITAN X (Pascal)")):
        paths = list((DATA / "logs" / "cnn_benchmarks").glob(f"outputs_{folder}_*.json"))
        assert len(paths) > 10
        assert {row_of(record)["device"] for path in paths for record in read(path).records} == {device}


def test_the_tables_have_a_hundred_and_twenty_files_and_every_format():
    names = {line[0] for line in (*READ_BY_EYE, *OTHER_FIGURES, *DRAWN_LINES, *DRAWN_COLUMNS)}
    assert len(names) >= 120
    with_records = {path.parent.name for path in files_in([DATA / "logs"]) if read(path).records}
    assert {name.partition("/")[0] for name in names} == with_records


OTHER_FIGURES = [
    (f"{KERAS}cpu-compiled_cpu16_cifar10_cnn_tensorflow.csv", "epoch_seconds", 67.8811),
    (f"{KERAS}cpu-compiled_cpu16_mnist_cnn_tensorflow.csv", "epoch_seconds", 35.5421),
    (f"{KERAS}cpu-compiled_cpu32_mnist_cnn_tensorflow.csv", "epoch_seconds", 33.1341),
    (f"{KERAS}cpu-compiled_cpu32_text_generator_keras_tensorflow.csv", "epoch_seconds", 182.359),
    (f"{KERAS}cpu-compiled_cpu64_text_generator_keras_tensorflow.csv", "epoch_seconds", 178.993),
    (f"{KERAS}cpu-compiled_cpu8_mnist_cnn_tensorflow.csv", "epoch_seconds", 52.8417),
    (f"{KERAS}cpu-compiled_cpu8_text_generator_keras_tensorflow.csv", "epoch_seconds", 209.841),
    (f"{KERAS}cpu-pip_cpu16_imdb_bidirectional_lstm_tensorflow.csv", "epoch_seconds", 140.137),
    (f"{KERAS}cpu-pip_cpu16_imdb_fasttext_tensorflow.csv", "epoch_seconds", 208.663),
    (f"{KERAS}cpu-pip_cpu16_lstm_text_generation_tensorflow.csv", "epoch_seconds", 177.624),
    (f"{KERAS}cpu-pip_cpu16_mnist_mlp_tensorflow.csv", "epoch_seconds", 4.75832),
    (f"{KERAS}cpu-pip_cpu16_text_generator_keras_tensorflow.csv", "epoch_seconds", 237.346),
    (f"{KERAS}cpu-pip_cpu32_cifar10_cnn_tensorflow.csv", "epoch_seconds", 68.6767),
    (f"{KERAS}cpu-pip_cpu32_imdb_bidirectional_lstm_tensorflow.csv", "epoch_seconds", 127.417),
    (f"{KERAS}cpu-pip_cpu32_imdb_fasttext_tensorflow.csv", "epoch_seconds", 204.266),
    (f"{KERAS}cpu-pip_cpu32_mnist_cnn_tensorflow.csv", "epoch_seconds", 34.0176),
    (f"{KERAS}cpu-pip_cpu64_cifar10_cnn_tensorflow.csv", "epoch_seconds", 72.4544),
    (f"{KERAS}cpu-pip_cpu64_lstm_text_generation_tensorflow.csv", "epoch_seconds", 142.106),
    (f"{KERAS}cpu-pip_cpu8_lstm_text_generation_tensorflow.csv", "epoch_seconds", 187.791),
    (f"{KERAS}cpu-pip_cpu8_mnist_cnn_tensorflow.csv", "epoch_seconds", 93.0143),
    (f"{KERAS}gpu_cifar10_cnn_tensorflow.csv", "epoch_seconds", 38.1591),
    (f"{KERAS}gpu_mnist_cnn_tensorflow.csv", "epoch_seconds", 14.3919),
    (f"{KERAS}gpu_text_generator_keras_tensorflow.csv", "epoch_seconds", 127.532),
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


@pytest.fixture(scope="module")
def outcomes():
    return [read(path) for path in files_in([DATA / "logs"])]


@pytest.mark.slow
def test_results_of_one_configuration_agree(outcomes):
    """What changes the work is a dimension; where one is missed, results of one configuration lie far apart."""
    speeds = defaultdict(list)
    for outcome in outcomes:
        for row in map(row_of, outcome.records):
            if row["throughput"]:
                speeds[tuple(row[name] for name in CONFIGURING)].append(row["throughput"])
    assert len(speeds) > 4500
    assert [key for key, values in speeds.items() if max(values) > 1.2 * min(values)] == []


@pytest.mark.slow
def test_every_file_is_imported_or_refused_with_a_reason(outcomes):
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
