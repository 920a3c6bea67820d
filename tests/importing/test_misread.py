"""Figures and words that were read wrongly once: each of these gave a wrong record, or refused a good file."""

import pytest

from steptime.core.stats.invariants import broken_invariant
from steptime.importing.recognise import read
from steptime.importing.run import run
from steptime.importing.source_file import rounding
from steptime.store.columns import row_of
from steptime.store.files import Store
from steptime.store.parquet_index import ParquetIndex
from steptime.store.record_search import ask
from tests.importing import samples as sample

SPEEDS = "name_gpu,num_gpu,alexnet,resnet50\nRTX 3080,1,5665,426\n2x RTX 3080,2,7325,736\n"
SPEEDS_JSON = (
    '[{"name_gpu":"RTX 3080","num_gpu":1,"alexnet":5665,"resnet50":426},'
    '{"name_gpu":"2x RTX 3080","num_gpu":2,"alexnet":7325,"resnet50":736}]'
)
BATCHES = "name_gpu,num_gpu,alexnet,resnet50\nRTX 3080,1,448,56\n2x RTX 3080,2,896,112\n"


@pytest.fixture
def files(tmp_path):
    def write(name: str, content: str):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        return path

    return write


def rows(path):
    outcome = read(path)
    assert not outcome.reason
    return [row_of(record) for record in outcome.records]


class TestLambdaTables:
    def test_batch_sizes_are_not_speeds_but_the_batch_of_the_throughput_table(self, files):
        batches = files("tf-train-bs-fp32.csv", BATCHES)
        speeds = files("tf-train-throughput-fp32.csv", SPEEDS)
        assert read(batches).supplementary and not read(batches).records
        found = [(r["throughput"], r["replica_batch"], r["effective_batch"]) for r in rows(speeds)]
        assert found == [(5665, 448, 448), (426, 56, 56), (7325, 448, 896), (736, 56, 112)]

    def test_batch_sizes_without_their_speeds_are_refused(self, files):
        outcome = read(files("tf-train-bs-fp16.csv", BATCHES))
        assert "batch sizes of a throughput table" in outcome.reason and not outcome.supplementary and not outcome.records

    def test_speeds_without_a_table_of_batches_have_no_batch(self, files):
        files("tf-train-bs-fp16.csv", BATCHES)
        assert {r["effective_batch"] for r in rows(files("tf-train-throughput-fp32.csv", SPEEDS))} == {None}

    def test_a_table_whose_kind_cannot_be_known_is_refused(self, files):
        outcome = read(files("table.csv", SPEEDS))
        assert "speeds or batches?" in outcome.reason and not outcome.records

    def test_a_csv_and_its_json_twin_are_one_result(self, files):
        one, other = files("tf-train-throughput-fp32.csv", SPEEDS), files("tf-train-throughput-fp32.json", SPEEDS_JSON)
        ids = [record.id for record in read(one).records]
        assert ids == [record.id for record in read(other).records]
        assert len(set(ids)) == 4


class TestRounding:
    @pytest.mark.parametrize(
        ("figures", "share"),
        [(["0.05"], 0.1), (["21270.331"], 0.0005 / 21270.331), (["1,280.5"], 0.05 / 1280.5), (["50", "0.05"], 0.11)],
    )
    def test_a_figure_is_good_to_half_of_its_last_digit(self, figures, share):
        assert rounding(*figures) == pytest.approx(share)

    @pytest.mark.parametrize("figure", ["", "0", "nan", "x", None])
    def test_what_is_no_figure_excuses_nothing(self, figure):
        assert rounding(figure) == 0.0

    def test_two_digits_do_not_refuse_a_file(self, files):
        name = "benchmark-infer-fp32-nchw-pt240-cpu-i7_12700h-dynamo.csv"
        header = sample.TIMM.partition("\n")[0]
        path = files(name, f"{header}\nsamvit_huge_patch16,0.05,21270.331,1,1024,637.03\n")
        (record,) = read(path).records
        assert record.printed.mean_speed == 0.05 and broken_invariant(record) == ""
        assert "not the batch 1" in read(files(name, f"{header}\nsamvit_huge_patch16,0.050,21270.331,1,1024,637.03\n")).reason


def test_timms_image_size_compiler_and_layout_are_kept_apart(files):
    header, first = sample.TIMM.splitlines()[:2]
    plain = "benchmark-infer-amp-nhwc-pt240-cu124-rtx4090.csv"
    compiled = "benchmark-infer-amp-nchw-pt240-cu124-rtx4090-dynamo.csv"
    found = [read(files(name, f"{header}\n{first}\n{first.replace(',224,', ',160,')}\n")).records for name in (plain, compiled)]
    settings = [record.source.settings for records in found for record in records]
    assert settings == [
        {"compile": compiler, "image_size": size, "layout": layout}
        for compiler, layout in (("eager", "nhwc"), ("dynamo", "nchw"))
        for size in ("224", "160")
    ]
    assert len({record.id for records in found for record in records}) == 4
    made = [row_of(record) for records in found for record in records]
    assert [(row["image_size"], row["compile"], row["layout"]) for row in made] == [
        ("224", "eager", "nhwc"), ("160", "eager", "nhwc"), ("224", "dynamo", "nchw"), ("160", "dynamo", "nchw"),
    ]  # fmt: skip


def test_timms_two_kinds_of_mixed_precision_are_kept_apart(files):
    names = [f"benchmark-infer-{amp}-nchw-pt291-cu130-5090.csv" for amp in ("amp", "amp_bf16")]
    found = [read(files(name, sample.TIMM)).records[0] for name in names]
    assert [record.case.precision for record in found] == ["mixed", "mixed"]
    assert [record.source.settings.get("amp") for record in found] == [None, "bf16"]


def test_what_changes_the_work_makes_another_configuration_in_the_index(files, tmp_path):
    header, first = sample.TIMM.splitlines()[:2]
    sizes = f"{header}\n{first}\n{first.replace(',224,', ',160,')}\n"
    store = Store(tmp_path / "store")
    run(store, [files("benchmark-infer-amp-nhwc-pt240-cu124-rtx4090.csv", sizes)])
    index = ParquetIndex(store)
    index.refresh()
    found = ask(index, "SELECT count(DISTINCT config), list(image_size ORDER BY image_size), any_value(unit) FROM rows")
    assert found == [(2, ["160", "224"], "samples/s")]


class TestMlperf:
    @pytest.mark.parametrize("about", ['{"success": "true"}', '{"status": "success"}', '"success"', '{"success": true}'])
    def test_a_success_is_one_however_it_is_written(self, imported, about):
        (record,) = imported("gnmt.txt", ('{"success": true}', about)).records
        assert record.status == "ok" and record.printed.others["run_seconds"] == 2420.0

    @pytest.mark.parametrize("about", ['{"success": "false"}', '{"status": "aborted"}', "null", '{"success": false}'])
    def test_a_failure_is_none(self, imported, about):
        (record,) = imported("gnmt.txt", ('{"success": true}', about)).records
        assert record.status == "crash" and record.printed is None

    @pytest.mark.parametrize(
        ("place", "model", "server"),
        [
            ("closed/Dell/results/R740_T4x4_tensorrt/bert-99.9/Offline/performance/run_1", "bert_99.9", "R740_T4x4_tensorrt"),
            ("closed/Intel/results/clx_9282/resnet/SingleStream/performance/run_1", "resnet50", "clx_9282"),
            ("results/closed/Intel/results/clx_9282/some-new-model/Server", "some_new_model", "clx_9282"),
        ],
    )
    def test_model_and_system_of_loadgen_are_in_the_path(self, files, place, model, server):
        (row,) = rows(files(f"{place}/mlperf_log_summary.txt", sample.LOADGEN))
        assert (row["model"], row["server"]) == (model, server)
        assert row["framework"] == ("tensorrt" if "tensorrt" in server else "")

    def test_scenarios_are_kept_apart(self, imported):
        (record,) = imported("mlperf_log_summary.txt").records
        assert record.source.settings == {"scenario": "singlestream"}


class TestTfCnnBenchmarks:
    def test_the_printed_devices_count_and_a_contradiction_is_noted(self, imported):
        changes = (("128 global", "1024 global"), ("64 per device", "256 per device"))
        (record,) = imported("tf_cnn.log", *changes).records
        assert (record.case.devices, record.case.batch, record.case.effective_batch) == (2, 512, 1024)
        assert record.source.notes == ["the log says 1024 global, 256 per device and 2 devices; taken as 1024 / 2 = 512 on each"]

    def test_lambdas_metadata_is_known_in_any_order_of_its_lines(self, samples, imported):
        name = "logs_i7-GeForce_GTX_1080_Ti.logs_metadata"
        (samples / name).write_text("Memory\t31.3GB\nGPU 0\tGeForce GTX 1080 Ti\nCPU\ti7-6850K\nTF\t2.2.0\n")
        assert imported(name).supplementary
        (record,) = imported("logs_i7-GeForce_GTX_1080_Ti.logs_syn-replicated-fp16-2gpus_resnet50-64_throughput_1").records
        assert record.source.raw["cpu"] == "i7-6850K"

    @pytest.mark.parametrize(
        ("server", "setting", "settings"),
        [
            ("i7-RTX_2080", "", {"layout": "nchw", "variables": "parameter_server"}),
            ("i7-RTX_2080", "-distortions", {"augmentation": "distortions"}),
            ("i7-RTX_2080", "-distortions-inference", {"augmentation": "distortions"}),
            ("i7-RTX_2080_XLA_TF1_15", "", {"compile": "xla"}),
        ],
    )
    def test_distortions_and_xla_are_kept_apart_from_their_plain_twins(self, files, server, setting, settings):
        name = f"{server}.logs/real-replicated-fp16-2gpus{setting}/resnet50-64/throughput/1"
        (record,) = read(files(name, sample.LAMBDA)).records
        plain = {"layout": "nchw", "variables": "parameter_server"}
        assert record.source.settings == plain | settings


def test_the_gpu_that_a_framework_prints_is_the_device_of_a_dlbs_log(imported):
    gpu = "name: GeForce RTX 2080 SUPER major: 7 minor: 5 memoryClockRate(GHz): 1.815\n"
    changes = (("__exp.phase__", f"{gpu}__exp.phase__"), ('device_title__="Tesla P100"', 'device_title__=""'))
    (record,) = imported("dlbs.log", *changes).records
    assert row_of(record)["device"] == "GeForce RTX 2080 SUPER"


GREENTEA = """\
I0822 16:56:54.642933  9958 caffe.cpp:291] Use GPU with device ID 0
I0822 16:56:55.173161  9958 net.cpp:51] Initializing net from parameters:
name: "ConvLayer_3x96x11x11"
input: "data"
input_dim: 128
input_dim: 3
input_dim: 64
input_dim: 64
I0822 16:57:13.477630  9958 caffe.cpp:364] Average Forward pass: 270.4 ms.
I0822 16:57:13.477638  9958 caffe.cpp:368] Average Forward-Backward: 1810.2 ms.
I0822 16:57:14.104496  9969 net.cpp:51] Initializing net from parameters:
name: "ConvLayer_64x128x9x9"
input: "data"
input_dim: 32
input_dim: 64
input_dim: 64
input_dim: 64
I0822 16:57:31.070430  9969 caffe.cpp:364] Average Forward pass: 442.8 ms.
I0822 16:57:31.070437  9969 caffe.cpp:368] Average Forward-Backward: 1659 ms.
I0822 16:57:31.070440  9969 caffe.cpp:370] *** Benchmark ends ***
"""


def test_input_dim_is_the_batch_and_each_net_of_a_caffe_log_has_its_own(files):
    found = [(r["model"], r["phase"], r["replica_batch"], r["batch_time_ms"]) for r in rows(files("greentea.log", GREENTEA))]
    assert found == [
        ("convlayer_3x96x11x11", "inference", 128, pytest.approx(270.4)),
        ("convlayer_3x96x11x11", "training", 128, pytest.approx(1810.2)),
        ("convlayer_64x128x9x9", "inference", 32, pytest.approx(442.8)),
        ("convlayer_64x128x9x9", "training", 32, pytest.approx(1659)),
    ]


def test_forks_of_caffe_and_gradients_of_the_input_are_kept_apart(files):
    text = GREENTEA.replace("input_dim: 32\n", "input_dim: 32\nforce_backward: true\n", 1)
    found = [record.source.settings for record in read(files("greentea/output.log", text)).records]
    assert found[0] == {"fork": "greentea", "image_size": "64"}
    assert found[2] == {"fork": "greentea", "image_size": "64", "input_gradient": "true"}


def test_cudnn_that_was_installed_but_not_used_is_kept_apart(imported):
    used, _ = imported("1234.json").records
    unused, _ = imported("1234.json", ('"gpu": 0', '"gpu": 0, "use_cudnn": 0')).records
    assert used.source.settings == {"cudnn": "5.1", "image_size": "224", "kernels": "cudnn"}
    assert unused.source.settings == {"image_size": "224", "kernels": "nn"}


def test_tokens_of_optimum_are_not_samples(imported):
    changes = (('"train": {', '"prefill": {'), ('"unit": "samples/s", "value": 512.0', '"unit": "tokens/s", "value": 4096.0'))
    (record,) = imported("benchmark.json", *changes).records
    assert record.printed.mean_speed == 4096.0 and record.case.batch == 0
    assert record.source.settings["unit"] == "tokens/s" and record.source.settings["part"] == "prompt"


def test_deepbench_times_the_libraries_of_a_vendor(files, samples):
    path = samples / "DeepBench_cuda_train.xlsx"
    specs = [*sample.DEEPBENCH_SPECS, ["CUDA Version", "8.0.88"], ["CUDNN Version", "6.0.21"]]
    path.write_bytes(sample.workbook(sample.DEEPBENCH_ROWS, specs))
    assert {(r["framework"], r["framework_version"]) for r in rows(path)} == {("cuda", "8.0.88")}


@pytest.mark.parametrize(
    ("remarks", "precisions"),
    [
        ([["Precision", "Float"]], {"gemm": "fp32", "conv2d": "fp32", "lstm": "fp32"}),
        (
            [["Precision", "GEMM, Conv: Int8 multiplication, 32 bit accumulation"], ["", "Sparse Ops, RNN: single precision"]],
            {"gemm": "int8", "conv2d": "int8", "lstm": "fp32"},
        ),
        (
            [["Precision", "Int8 inputs 32 bit math", "Convolution results are still in float, since int8 isn't supported"]],
            {"gemm": "int8", "conv2d": "fp32", "lstm": "int8"},
        ),
    ],
)
def test_the_precision_of_a_deepbench_section_is_what_the_sheet_says_of_it(samples, remarks, precisions):
    convolution = [["Convolution", "", "W", "H", "C", "N", "Forward (msec)"], ["", "", 28, 28, 512, 16, 0.2]]
    path = samples / "DeepBench_inference.xlsx"
    table = [*remarks, *sample.DEEPBENCH_ROWS[1:], [], *convolution]
    path.write_bytes(sample.workbook(table, sample.DEEPBENCH_SPECS, sheet="Kernels"))
    assert {r["model"].partition("(")[0]: r["precision"] for r in rows(path)} == precisions


@pytest.mark.parametrize(
    ("column", "places"), [("# chips / accelerator cards", (8, 1)), ("# nodes (1 process per node)", (1, 8))]
)
def test_a_deepbench_all_reduce_is_over_cards_or_nodes(samples, column, places):
    reduction = [["All-Reduce", "", "Size # floats", column, "Mean All Reduce Time (msec)"], ["", "", 100000, 8, 0.5]]
    path = samples / "DeepBench_train.xlsx"
    path.write_bytes(sample.workbook([*sample.DEEPBENCH_ROWS, [], *reduction], sample.DEEPBENCH_SPECS))
    (row,) = [r for r in rows(path) if r["model"].startswith("all_reduce")]
    assert (row["model"], row["devices_per_node"], row["nodes"]) == ("all_reduce(size_floats=100000)", *places)


def test_an_implementation_of_theano_may_have_arguments(files):
    times = "".join(
        f"pylearn2.sandbox.cuda_convnet(partial_sum=None)    ==> {name} ==> {ms}\n"
        for name, ms in (("fprop        ", 38), ("bprop inputs ", 53), ("bprop weights", 339))
    )
    found = rows(files("theano.log", sample.CONVNET_THEANO + times))
    own = [r for r in found if r["variant"] == "kernels=pylearn2.sandbox.cuda_convnet(partial_sum=None)"]
    assert [(r["phase"], r["batch_time_ms"]) for r in own] == [("inference", 38.0), ("training", pytest.approx(430.0))]


def test_the_server_in_a_pytorch_gpu_benchmark_name_is_kept(files):
    name = "results_dgx-a100_A100-SXM4-40GB_1_gpus__half_model_train_benchmark.csv"
    assert {(r["server"], r["device"]) for r in rows(files(name, sample.PYTORCH_GPU))} == {("dgx-a100", "A100-SXM4-40GB")}
