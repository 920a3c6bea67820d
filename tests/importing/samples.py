"""Small files in each foreign format, written for these tests; name, content. Fuzzing starts from them as well."""

import gzip
import io
import json
import zipfile

TF_CNN = """\
2018-03-01 10:00:00.123456: I tensorflow/core/common_runtime/gpu/gpu_device.cc:1105] Found device 0 with properties:
name: Tesla P100-PCIE-16GB major: 6 minor: 0 memoryClockRate(GHz): 1.3285
TensorFlow:  1.5
Model:       resnet50
Dataset:     imagenet (synthetic)
Mode:        training
SingleSess:  False
Batch size:  128 global
             64 per device
Num batches: 100
Num epochs:  0.01
Devices:     ['/gpu:0', '/gpu:1']
Data format: NCHW
Optimizer:   sgd
Variables:   parameter_server
==========
Generating model
Running warm up
Done warm up
Step\tImg/sec\ttotal_loss
1\timages/sec: 401.3 +/- 0.0 (jitter = 0.0)\t8.169
10\timages/sec: 398.8 +/- 1.2 (jitter = 2.1)\t7.593
100\timages/sec: 400.0 +/- 0.4 (jitter = 1.9)\t7.797
----------------------------------------------------------------
total images/sec: 399.87
----------------------------------------------------------------
"""
LAMBDA = TF_CNN.replace("             64 per", "64 per").replace("8.169", "nan 1520000000").replace("7.593", "nan 1520000003")
LAMBDA = LAMBDA.replace("7.797", "nan 1520000033")
TF_CNN_OOM = TF_CNN.partition("Done warm up")[0] + (
    "tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor with shape[64,256,56,56]\n"
)
TF_CNN_STOPPED = TF_CNN.partition("100\timages")[0]
TF_CNN_EVAL = (
    TF_CNN.partition("Step\t")[0].replace("training", "evaluation")
    + "10\t801.5 examples/sec\n20\t803.5 examples/sec\n"
    + "Accuracy @ 1 = 0.7521 Accuracy @ 5 = 0.9261 [50000 examples]\n"
    + "-" * 64
    + "\ntotal images/sec: 802.25\n"
    + "-" * 64
    + "\n"
)
TF_CNN_CPU = TF_CNN.replace("['/gpu:0', '/gpu:1']", "['/cpu:0']").replace("128 global", "64 global").replace("399.87", "7.31")

DLBS = """\
__exp.model__="resnet50"
__exp.framework__="tensorflow"
__exp.phase__="inference"
__exp.dtype__="float16"
__exp.device_type__="gpu"
__exp.device_title__="Tesla P100"
__exp.gpus__="0,1"
__exp.num_gpus__=2
__exp.num_local_gpus__=2
__exp.num_nodes__=1
__exp.replica_batch__=32
__exp.effective_batch__=64
__exp.data__="synthetic"
__exp.docker__=false
__pytorch.__master_addr__="localhost"
__exp.status__="ok"
__results.start_time__= "2019-10-16:04:13:50:997"
some line that the framework printed
__results.throughput__=100.0
__results.time__=64.0
__results.throughput__=1000.0
__exp.status__="success"
"""
DLBS_STORE = json.dumps(
    {
        "data": [
            {"exp.model": "vgg16", "exp.framework": "mxnet", "exp.phase": "training", "exp.dtype": "float32",
             "exp.replica_batch": 16,
             "exp.num_local_gpus": 4, "exp.num_nodes": 2, "exp.device_title": "Tesla V100", "results.throughput": 640.0,
             "results.time": 200.0},
            {"exp.model": "vgg19", "exp.framework": "mxnet", "exp.status": "failure", "exp.status_msg": "out of disk"},
        ]
    }
)  # fmt: skip
DLPG = """\
Phase,Model,Framework,Precision,Data Type,Server,Processing unit,Count,Cluster size,Interconnect,Replica Batch Size,\
Effective batch size,Software,Batch time (ms),Throughput
training,ResNet50,TensorFlow 1.10,Half (FP16),Real (local NVMe),Apollo 6500,Tesla V100,8,2,EDR,128,2048,\
"TensorFlow 1.10, tf_cnn_benchmarks, docker",256.0,8000.0
"""
PSC = """\
[name: "/device:GPU:0"]
Mean Time Per Step : 0.005725434
Mean Speed : 8732.961728
speed uncertainty : 6.388218371
Speed Jitter : 760.2575007
"""
PSC_CSV = """\
mean_speed,Mean_Time_Per_Step,speed_uncertainty,Speed_Jitter,gpu_type,num_gpu,staged_from
0,5250.901566,0.009522174,0.734560314,65.77123005,k80,2,$SCRATCH
1,4836.64568,0.010337743,2.079079801,203.1963323,k80,4,$LOCAL
"""
ALEXNET = """\
conv1   [128, 56, 56, 64]
pool1   [128, 27, 27, 64]
2019-01-08 10:01:11.800530: I tensorflow/core/common_runtime/gpu/gpu_device.cc:1434] Found device 0 with properties:
name: GeForce GTX 1050 Ti major: 6 minor: 1 memoryClockRate(GHz): 1.392
2019-01-08 10:01:15.496202: step 0, duration = 0.131
2019-01-08 10:01:28.494875: Forward across 100 steps, 0.131 +/- 0.001 sec / batch
2019-01-08 10:02:04.218553: Forward-backward across 100 steps, 0.315 +/- 0.001 sec / batch
"""
CONVNET_TF = ALEXNET.partition("2019-01-08 10:01:11")[2].replace("0.131 +/-", "0.158 +/-").replace("0.315 +/-", "0.540 +/-")
CONVNET_CAFFE = """\
I0228 23:01:58.835140 24487 caffe.cpp:308] Use GPU with device ID 0
name: "googlenet"
layer {
  name: "input"
      dim: 32
      dim: 3
}
I0228 23:02:00.849194 24487 caffe.cpp:377] Average Forward pass: 40 ms.
I0228 23:02:00.849201 24487 caffe.cpp:381] Average Forward-Backward: 128 ms.
I0228 23:02:00.849210 24487 caffe.cpp:384] *** Benchmark ends ***
"""
CONVNET_TORCH = """\
Running on device: GeForce GTX TITAN X\t
ModelType: VGG Model-A\tKernels: cudnn\tInput shape: 64x3x224x224\t
cudnn                                          :Forward:     140.33\t
cudnn                                         :Backward:     331.52\t
cudnn                                            :TOTAL:     471.85\t
"""
CONVNET_NEON = """\
-------------------------------------------------------------------------------------
|    Func     |    Mean     |   Median    |     Min     |     Max     |    Units    |
-------------------------------------------------------------------------------------
| fprop       |  25.633     |  25.634     |  25.565     |  25.695     |    msec     |
| bprop       |  52.985     |  52.967     |  52.84      |  53.2       |    msec     |
| iteration   |  78.618     |  78.608     |  78.423     |  78.839     |    msec     |
-------------------------------------------------------------------------------------
"""
CONVNET_THEANO = """\
Using gpu device 0: Tesla K40c
CONFIG: input = 64 x 64 x 64 * ker = 64 x 128 x 9 x 9 ( bs = 128 , stride = 1 )
(auto) theano.sandbox.cuda.blas.GpuCorrMM          ==> fprop         ==>     149
(auto) theano.sandbox.cuda.blas.GpuCorrMM          ==> bprop inputs  ==>     173
(auto) theano.sandbox.cuda.blas.GpuCorrMM          ==> bprop weights ==>     239
theano.sandbox.cuda.fftconv.conv2d_fft fprop: FAILED ('scikits.cuda is not installed',)
"""
CNN_BENCHMARKS = json.dumps(
    {
        "forward_times": [0.1, 0.11, 0.09, 0.1],
        "backward_times": [0.3, 0.29, 0.31, 0.3],
        "total_times": [0.4, 0.4, 0.4, 0.4],
        "gpu_name": "GeForce GTX 1080",
        "cudnn_version": "5.1",
        "opt": {"gpu": 0, "model_t7": "models/resnets/resnet-50.t7", "batch_size": 16, "image_height": 224, "image_width": 224},
    }
)
KERAS = "epoch,elapsed,loss,acc,val_loss,val_acc\n0,20.0,0.33,0.89,0.08,0.97\n1,10.0,0.11,0.96,0.05,0.98\n"
PYTORCH_GPU = "resnet18,resnet50,vgg16,densenet121\n4.0,10.0,8.0,9.0\n6.0,12.0,8.5,9.5\n"
TIMM = (
    "model,infer_samples_per_sec,infer_step_time,infer_batch_size,infer_img_size,param_count\n"
    "resnet50,2560.0,100.0,256,224,25.56\nvit_base_patch16_224,1024.0,250.0,256,224,86.57\n"
)
MLPERF_05 = """\
:::MLPv0.5.0 gnmt 1544232138.962174416 (<string>:1) run_clear_caches
:::MLPv0.5.0 gnmt 1544232580.122391462 (/tmp/estimator.py:502) run_start
:::MLPv0.5.0 gnmt 1544232580.447143793 (/tmp/estimator.py:116) input_batch_size: 2048
:::MLPv0.5.0 gnmt 1544235000.774743557 (/tmp/estimator.py:533) eval_accuracy: {"value": 22.25, "epoch": 1}
:::MLPv0.5.0 gnmt 1544235000.122391462 (/tmp/estimator.py:536) run_stop: {"success": true}
"""
MLPERF_06 = """\
:::MLL 0.0 submission_benchmark: {"value": "resnet", "metadata": {"lineno": 0, "file": "N/A"}}
:::MLL 0.0 submission_platform: {"value": "tpu-v3-32", "metadata": {"lineno": 0, "file": "N/A"}}
:::MLL 1558641148.828 global_batch_size: {"value": 512, "metadata": {"lineno": 542, "file": "a.py"}}
:::MLL 1558641546.500 run_start: {"value": null, "metadata": {"lineno": 477, "file": "a.py"}}
:::MLL 1558641753.500 run_stop: {"value": null, "metadata": {"status": "success", "lineno": 93, "file": "a.py"}}
"""
LOADGEN = """\
================================================
MLPerf Results Summary
================================================
SUT name : sut
Scenario : Single Stream
Mode     : Performance
90th percentile latency (ns) : 391022292
Result is : VALID

================================================
Additional Stats
================================================
QPS w/ loadgen overhead         : 2.57
QPS w/o loadgen overhead        : 2.57

Min latency (ns)                : 387257769
Max latency (ns)                : 399217831
Mean latency (ns)               : 389649678
50.00 percentile latency (ns)   : 389443810
90.00 percentile latency (ns)   : 391022292
"""
DAWN_JSON = json.dumps(
    {
        "version": "v1.0", "author": "somebody", "authorEmail": "a@b.c", "framework": "PyTorch 0.4.1", "codeURL": "https://x",
        "model": "ResNet-50", "hardware": "8 * V100 (AWS p3.16xlarge)", "costPerHour": 24.48, "timestamp": "2018-09-06",
    }
)  # fmt: skip
DAWN_TSV = "epoch\thours\ttop1Accuracy\ttop5Accuracy\n1\t0.5\t13.5\t31.3\n2\t1.0\t70.0\t93.1\n3\t1.5\t76.0\t93.5\n"
DAWN_INFERENCE = json.dumps(
    {
        "version": "v1.0", "author": "somebody", "authorEmail": "a@b.c", "framework": "MXNet 0.11.0", "codeURL": "https://x",
        "model": "ResNet 152", "hardware": "1 K80 / 61 GB / 4 CPU (Amazon EC2 [p2.xlarge])", "latency": 29.24, "cost": 0.0000073,
        "top5Accuracy": 93.0, "timestamp": "2017-11-30", "misc": "CUDA 8",
    }
)  # fmt: skip
LATENCY = {
    "unit": "s",
    "values": [0.5] * 8,
    "count": 8,
    "total": 4.0,
    "mean": 0.5,
    "p50": 0.5,
    "p90": 0.5,
    "p95": 0.5,
    "p99": 0.5,
}
OPTIMUM = json.dumps(
    {
        "config": {
            "name": "x",
            "backend": {
                "name": "pytorch",
                "version": "2.4.1",
                "model": "bert-base-uncased",
                "device": "cuda",
                "torch_dtype": "float16",
            },
            "scenario": {
                "name": "training",
                "training_arguments": {"per_device_train_batch_size": 32, "gradient_accumulation_steps": 1},
            },
            "environment": {"cpu": " Intel(R) Xeon(R)", "gpu": ["NVIDIA A100-SXM4-80GB"], "optimum_benchmark_version": "0.5.0"},
        },
        "report": {
            "overall": {"latency": {**LATENCY, "count": 10}, "throughput": {"unit": "samples/s", "value": 640.0}},
            "train": {
                "memory": {"unit": "MB", "max_ram": 2000.0, "max_global_vram": 9000.0},
                "latency": LATENCY,
                "throughput": {"unit": "samples/s", "value": 512.0},
            },
        },
    }
)
PERFZERO = """\
2019-02-13 06:45:37 INFO: Benchmark execution completed with summary:
 {
  "ml_framework_info": {"version": "1.13.0-dev20190206", "name": "tensorflow"},
  "execution_timestamp": 1550040322.8991697,
  "execution_id": "2019-02-13-06-45-22-899128",
  "system_info": {"accelerator_count": 8, "platform_name": "gce", "accelerator_model": "Tesla V100-SXM2-16GB"},
  "process_info": {"max_rss": 4269047808},
  "benchmark_result": {
    "metrics": [{"name": "exp_per_second", "value": 2700.5}, {"name": "accuracy_top_1", "value": 0.26}],
    "name": "official.resnet.keras.Resnet50KerasBenchmarkSynth.benchmark_8_gpu_fp16",
    "succeeded": true,
    "wall_time": 14.5
  }
}
"""
RUN_LOG = json.dumps(
    {
        "model_name": "resnet50", "dataset": {"name": "imagenet"}, "run_date": "2018-05-01T10:00:00.000000Z",
        "machine_config": {"gpu_info": {"count": 4, "model": "Tesla P100-PCIE-16GB"}, "cpu_info": {"num_cores": 8}},
        "tensorflow_version": {"version": "1.8.0", "git_hash": "x"},
        "run_parameters": [{"name": "batch_size", "long_value": 256}, {"name": "synthetic_data", "bool_value": "True"}],
    }
) + "\n"  # fmt: skip
METRIC_LOG = "".join(
    json.dumps(
        {"name": name, "value": value, "unit": None, "global_step": step, "timestamp": "2018-05-01T10:01:00Z", "extras": []}
    )
    + "\n"
    for step, name, value in (
        (100, "current_examples_per_sec", 500.0),
        (100, "average_examples_per_sec", 490.0),
        (200, "average_examples_per_sec", 510.25),
        (200, "loss", 6.5),
    )
)
LAMBDA_TABLE = "name_gpu,num_gpu,alexnet,resnet50,vgg16\nRTX 3080,1,5665,426,241\n2x RTX 2080Ti NVLink,2,5967,567,0\n"
KINETO = json.dumps(
    {
        "schemaVersion": 1,
        "deviceProperties": [{"id": 0, "name": "NVIDIA A100-PG509-200"}],
        "traceEvents": [
            {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "ts": 0, "dur": 1000},
            {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#2", "ts": 1000, "dur": 3000},
            {"ph": "X", "cat": "cpu_op", "name": "aten::conv2d", "ts": 10, "dur": 400},
            {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 100, "dur": 1000},
            {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 600, "dur": 1000},
            {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "ts": 3000, "dur": 1010},
        ],
    }
)

LLAMA_ROW = {
    "build_commit": "abc12345", "build_number": 5000, "cpu_info": "AMD Ryzen 7 7800X3D 8-Core Processor",
    "gpu_info": "NVIDIA GeForce RTX 4080", "backends": "CUDA", "model_filename": "models/some-7b-q4_k_m.gguf",
    "model_type": "some 7B Q4_K - Medium", "model_size": 4677120000, "model_n_params": 7615616512, "n_batch": 2048,
    "n_ubatch": 512, "n_threads": 8, "type_k": "f16", "type_v": "f16", "n_gpu_layers": 99, "split_mode": "layer",
    "flash_attn": False, "n_prompt": 512, "n_gen": 0, "n_depth": 0, "test_time": "2025-04-24T11:58:50Z", "avg_ns": 64000000,
    "stddev_ns": 1000000, "avg_ts": 8000.0, "stddev_ts": 100.0, "samples_ns": [64000000] * 4, "samples_ts": [8000.0] * 4,
}  # fmt: skip
LLAMA_GENERATION = LLAMA_ROW | {"n_prompt": 0, "n_gen": 128, "avg_ns": 1000000000, "avg_ts": 128.0, "stddev_ts": 2.0}
LLAMA = json.dumps([LLAMA_ROW, LLAMA_GENERATION], indent=2)
LLAMA_LINES = "".join(json.dumps(row) + "\n" for row in (LLAMA_ROW, LLAMA_GENERATION))
LLAMA_CSV = "".join(
    ",".join(f'"{value}"' for name, value in row if not name.startswith("samples")) + "\n"
    for row in (((name, name) for name in LLAMA_ROW), LLAMA_ROW.items(), LLAMA_GENERATION.items())
).replace('"build_commit"', "build_commit")
VLLM = json.dumps(
    {
        "date": "20250102-030405", "backend": "vllm", "model_id": "some-org/Some-8B", "tokenizer_id": "some-org/Some-8B",
        "num_prompts": 100, "request_rate": "inf", "max_concurrency": 32, "duration": 50.0, "completed": 100,
        "total_input_tokens": 102400, "total_output_tokens": 12800, "request_throughput": 2.0, "output_throughput": 256.0,
        "total_token_throughput": 2304.0, "mean_ttft_ms": 120.0, "median_ttft_ms": 110.0, "p99_ttft_ms": 300.0,
        "mean_tpot_ms": 20.0, "input_lens": [1024] * 3,
    }
)  # fmt: skip
TORCHBENCH = (
    "dev,name,batch_size,speedup,abs_latency,compilation_latency,compression_ratio,eager_peak_mem,dynamo_peak_mem\n"
    "cuda,resnet50,32,1.5123,25.0,30.25,0.95,3.5,3.75\ncuda,hf_Bert,4,0.0,0.0,12.5,0.0,0.0,0.0\n"
)
PYTEST_BENCHMARK = json.dumps(
    {
        "machine_info": {"node": "box", "python_version": "3.12.3", "cpu": {"brand_raw": "Intel(R) Xeon(R) CPU @ 2.20GHz"}},
        "commit_info": {"id": "abc"},
        "benchmarks": [
            {
                "group": None, "name": "test_step[64-relu]", "fullname": "tests/test_a.py::test_step[64-relu]",
                "params": {"width": 64, "kind": "relu"}, "extra_info": {},
                "stats": {"min": 0.01, "max": 0.03, "mean": 0.02, "rounds": 50, "median": 0.019, "iterations": 1},
            },
            {
                "group": "models", "name": "test_model", "fullname": "tests/test_a.py::test_model", "params": None,
                "extra_info": {"model": "resnet18", "batch": 8, "framework": "pytorch", "phase": "inference"},
                "stats": {"min": 0.09, "max": 0.2, "mean": 0.1, "rounds": 10, "median": 0.1, "iterations": 1},
            },
        ],
        "datetime": "2025-01-02T03:04:05.000000+00:00", "version": "5.1.0",
    }
)  # fmt: skip
ASV = json.dumps(
    {
        "commit_hash": "0123456789abcdef", "env_name": "virtualenv-py3.12", "date": 1735787045000, "python": "3.12", "version": 2,
        "params": {"machine": "box", "cpu": "AMD EPYC 7B12", "arch": "x86_64", "num_cpu": "8", "ram": "32"},
        "result_columns": ["result", "params", "version", "started_at", "duration", "stats_ci_99_a"],
        "results": {
            "suite.Conv.time_forward": [[0.25, None, 0.5, 1.0], [["'relu'", "'gelu'"], ["1", "8"]], "v", 1735787046000, 3.0, []],
            "suite.Conv.peakmem_forward": [[1048576], [], "v", 1735787047000, 3.0, []],
            "suite.time_failed": [None, [], "v", 1735787047000, 3.0, []],
        },
    }
)  # fmt: skip


def workbook(rows: list[list[str | float]], specs: list[list[str]], sheet: str = "Results FP32") -> bytes:
    """The smallest .xlsx that spreadsheets open."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{main}" xmlns:r="{relations}"><sheets><sheet name="{sheet}" sheetId="1" r:id="rId1"/>'
            '<sheet name="Specs" sheetId="2" r:id="rId2"/></sheets></workbook>',
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            '<Relationship Id="rId1" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Target="worksheets/sheet2.xml"/>'
            "</Relationships>",
        )
        for number, table in enumerate((rows, specs), start=1):
            archive.writestr(f"xl/worksheets/sheet{number}.xml", f'<worksheet xmlns="{main}">{_cells(table)}</worksheet>')
    return content.getvalue()


def _cells(table: list[list[str | float]]) -> str:
    lines = []
    for number, row in enumerate(table, start=1):
        cells = [_cell(f"{chr(65 + column)}{number}", value) for column, value in enumerate(row) if value != ""]
        lines.append(f'<row r="{number}">{"".join(cells)}</row>')
    return f"<sheetData>{''.join(lines)}</sheetData>"


def _cell(place: str, value: str | float) -> str:
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'
    return f'<c r="{place}"><v>{value}</v></c>'


DEEPBENCH_ROWS: list[list[str | float]] = [
    ["Precision", "Float"],
    [],
    ["Dense Matrix Multiplication", "", "M", "N", "K", "A Transpose", "B Transpose", "", "Time (msec)", "TERAFLOPS"],
    ["", "", 1760, 16, 1760, "N", "N", "", 0.055, 1.80224],
    [],
    ["Recurrent Layers - LSTM", "", "Hidden Units", "N", "Timesteps", "", "Time Forward (msec) ", "Time Backward (msec) "],
    ["", "", 512, 16, 25, "", 1.5, 2.5],
]
DEEPBENCH_SPECS = [["CPU Model", "Intel Xeon"], ["GPU Model", "NVIDIA Tesla P100"]]
DEEPBENCH = workbook(DEEPBENCH_ROWS, DEEPBENCH_SPECS)

FILES: dict[str, bytes | str] = {
    "tf_cnn.log": TF_CNN,
    "logs_i7-GeForce_GTX_1080_Ti.logs_syn-replicated-fp16-2gpus_resnet50-64_throughput_1": LAMBDA,
    "tf_cnn_oom.log": TF_CNN_OOM,
    "tf_cnn_stopped.log": TF_CNN_STOPPED,
    "tf_cnn_eval.log": TF_CNN_EVAL,
    "tf_cnn_cpu.log": TF_CNN_CPU,
    "dlbs.log": DLBS,
    "dlbs.json": DLBS_STORE,
    "dlpg.csv": DLPG,
    "2018-06-04-p100:2:scratch": PSC,
    "2018-06-04:TF_PERFORMANCE_RESULTS.csv": PSC_CSV,
    "alexnet.log": ALEXNET,
    "output_vgga.log": CONVNET_TF,
    "caffe.log": CONVNET_CAFFE,
    "torch_fp16.log": CONVNET_TORCH,
    "neon_fp32.log": CONVNET_NEON,
    "theano.log": CONVNET_THEANO,
    "1234.json": CNN_BENCHMARKS,
    "logs_cpu-pip_cpu16_mnist_cnn_tensorflow.csv": KERAS,
    "results_GeForce_RTX_2080_Ti_1_gpus__half_model_train_benchmark.csv": PYTORCH_GPU,
    "benchmark-infer-amp-nhwc-pt112-cu113-rtx3090.csv": TIMM,
    "gnmt.txt": MLPERF_05,
    "result_0.txt": MLPERF_06,
    "mlperf_log_summary.txt": LOADGEN,
    "dawn.json": DAWN_JSON,
    "dawn.tsv": DAWN_TSV,
    "dawn_inference.json": DAWN_INFERENCE,
    "benchmark.json": OPTIMUM,
    "perfzero.log": PERFZERO,
    "benchmark_run.log": RUN_LOG,
    "metric.log": METRIC_LOG,
    "tf-train-throughput-fp32.csv": LAMBDA_TABLE,
    "trace.json": KINETO,
    "trace.json.gz": gzip.compress(KINETO.encode()),
    "DeepBench_P100_train.xlsx": DEEPBENCH,
    "llama.json": LLAMA,
    "llama.jsonl": LLAMA_LINES,
    "llama.csv": LLAMA_CSV,
    "vllm.json": VLLM,
    "inductor_torchbench_amp_training_cuda_performance.csv": TORCHBENCH,
    "pytest.json": PYTEST_BENCHMARK,
    "0123-virtualenv-py3.12.json": ASV,
}
