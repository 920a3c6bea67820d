"""The GPU under the steps, against a compiled library with NVML's interface."""

import json
import time

import pytest

from steptime.core.backends.base import Program
from steptime.core.machine import gpu
from steptime.core.machine.contention import Sample, judge
from steptime.core.machine.gpu import GpuWatch, gpu_watch, visible_devices
from steptime.core.machine.nvml import LIBRARY, open_nvml
from steptime.core.schema import Budget, Case, Contention, GpuUse, Job, from_json, to_json
from steptime.core.worker import run_case as worker
from steptime.core.worker.events import Events
from steptime.core.worker.loop import run_steps
from steptime.core.worker.rank_agreement import slowest_card

OWN, OTHER = 5, 77
BEGIN = Sample(0.0, 0.0, 0, 0.0, 0.0, 0.0, 1)
END = Sample(10.0, 10.0, 30, 0.1, 10.0, 0.0, 1)


@pytest.fixture
def report(nvml_library, monkeypatch):
    """What is said of a GPU whose driver reports one value after the other, one for each sample."""

    def use(*values: str, own_pid: "int | None" = OWN) -> GpuUse:
        monkeypatch.setenv("FAKE_NVML", f"own_pid={OWN} {values[0]}")
        nvml = open_nvml(nvml_library)
        watch, samples = GpuWatch(nvml, nvml.devices()[0], own_pid), []
        seconds = iter(range(100))
        monkeypatch.setattr(gpu.time, "monotonic", lambda: float(next(seconds)))
        for value in values if len(values) > 1 else values * 2:
            monkeypatch.setenv("FAKE_NVML", f"own_pid={OWN} {value}")
            samples.append(watch.sample())
        described = watch.use(samples)
        monkeypatch.undo()
        return described

    return use


def verdict(use: "GpuUse | None") -> Contention:
    return judge(BEGIN, END, steps=100, threads=1, gpu=use)


def test_a_gpu_of_our_own_at_full_clock_is_clean(report):
    use = report("energy=1000", "energy=251500")
    assert verdict(use).verdict == "clean"
    assert (use.name, use.driver, use.sm_mhz, use.most_sm_mhz, use.memory_mhz) == (
        "NVIDIA A100-SXM4-40GB",
        "550.54.14",
        1410,
        1410,
        1215,
    )
    assert (use.watts, use.watts_limit, use.joules, use.celsius) == (250.5, 400, 250.5, 61)
    assert (use.ecc, use.ecc_errors, use.pcie_generation, use.pcie_width) == (True, 0, 4, 16)
    assert (use.memory_used_bytes, use.other_processes, use.other_bytes, use.foreign_share) == (3 << 30, 0, 0, 0.0)
    assert use.throttled == {"power cap": 0, "heat": 0, "hardware slow-down": 0}


@pytest.mark.parametrize(
    ("values", "expected", "reason"),
    [
        (f"pid={OTHER} pid_percent=40", "contended", "other processes used the GPU 40% of the time"),
        (f"pid={OTHER} pid_percent=10", "noisy", "other processes used the GPU 10% of the time"),
        (f"pid={OTHER}", "clean", ""),
        (f"pid={OTHER} pid_percent=none", "noisy", "1 other process is on the GPU"),
        ("throttle=0x20 sm_clock=900", "contended", "the GPU lowered its clock 100% of the time (heat), to 900 of 1410 MHz"),
        ("throttle=0x40", "contended", "(heat)"),
        ("throttle=0x80", "contended", "(hardware slow-down)"),
        ("throttle=0x4 sm_clock=1200", "noisy", "the GPU lowered its clock 100% of the time (power cap), to 1200 of 1410 MHz"),
        ("throttle=0x4 most_sm_clock=none", "noisy", "the GPU lowered its clock 100% of the time (power cap)"),
        ("throttle=0x1", "clean", ""),
        ("throttle=0x102", "clean", ""),
    ],
)
def test_what_slows_the_gpu_is_in_the_verdict(report, values, expected, reason):
    contention = verdict(report(values))
    assert contention.verdict == expected
    assert reason in contention.reason


def test_a_counter_sees_what_no_sample_saw(report):
    use = report("thermal_violation=1000000000", "thermal_violation=1500000000", "thermal_violation=2000000000")
    assert use.throttled["heat"] == pytest.approx(0.5)
    assert verdict(use).verdict == "contended"


def test_a_clock_that_was_lowered_in_one_of_four_blocks(report):
    use = report("", "", "throttle=0x4 sm_clock=1110", "", "")
    assert use.throttled["power cap"] == 0.25
    assert (use.least_sm_mhz, use.sm_mhz) == (1110, 1335)


def test_a_link_that_rests_between_blocks_is_as_wide_as_it_was(report):
    use = report("pcie_generation=1", "pcie_generation=4 pcie_width=8", "pcie_generation=1")
    assert (use.pcie_generation, use.pcie_width, use.most_pcie_width) == (4, 16, 16)


def test_a_consumer_card_that_reports_little_is_not_judged_by_it(report):
    keys = "sm_clock memory_clock throttle power energy ecc ecc_errors power_violation thermal_violation pid pid_percent"
    use = report(" ".join(f"{key}=none" for key in keys.split()))
    assert verdict(use).verdict == "clean"
    assert use.sm_mhz is use.watts is use.joules is use.ecc is use.other_processes is use.foreign_share is None
    assert use.throttled == {} and use.celsius == 61


def test_a_gpu_that_is_lost_on_the_way_leaves_what_was_seen(report):
    use = report("", "", "lost=1")
    assert use.celsius == 61 and use.joules is None


def test_inside_a_container_nobody_is_taken_for_another(report):
    use = report(f"pid={OTHER} pid_percent=90", own_pid=None)
    assert use.other_processes is use.foreign_share is None
    assert verdict(use).verdict == "clean"


def test_the_record_carries_it_and_old_records_are_read_without(report):
    contention = verdict(report("throttle=0x4"))
    assert from_json(Contention, to_json(contention)) == contention
    old = to_json(judge(BEGIN, END, 100, 1)).replace(',"gpu":null', "")
    assert "gpu" not in old and from_json(Contention, old).gpu is None


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, [0, 1, 2]),
        ({"CUDA_VISIBLE_DEVICES": "2,0"}, [2, 0]),
        ({"CUDA_VISIBLE_DEVICES": " 1 "}, [1]),
        ({"CUDA_VISIBLE_DEVICES": "GPU-2222,GPU-00000000-aaaa-bbbb-cccc-000000000000"}, [2, 0]),
        ({"CUDA_VISIBLE_DEVICES": "GPU-"}, []),
        ({"CUDA_VISIBLE_DEVICES": "1,7,0"}, [1]),
        ({"CUDA_VISIBLE_DEVICES": "-1"}, []),
        ({"CUDA_VISIBLE_DEVICES": ""}, []),
        ({"CUDA_VISIBLE_DEVICES": "MIG-1234"}, []),
    ],
)
def test_cuda_visible_devices_names_by_number_and_uuid(nvml_library, monkeypatch, environment, expected):
    monkeypatch.setenv("FAKE_NVML", "devices=3")
    assert [device.index for device in visible_devices(open_nvml(nvml_library).devices(), environment)] == expected


def test_among_different_cards_numbers_need_the_order_of_the_bus(nvml_library, monkeypatch):
    monkeypatch.setenv("FAKE_NVML", "devices=2 mixed=1")
    devices = open_nvml(nvml_library).devices()
    assert visible_devices(devices, {}) == visible_devices(devices, {"CUDA_VISIBLE_DEVICES": "1"}) == []
    assert visible_devices(devices, {"CUDA_VISIBLE_DEVICES": "GPU-1111"}) == devices[1:]
    assert visible_devices(devices, {"CUDA_VISIBLE_DEVICES": "1", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}) == devices[1:]


def test_each_rank_watches_the_card_that_it_runs_on(nvml_library, monkeypatch):
    monkeypatch.setenv("FAKE_NVML", "devices=2")
    monkeypatch.setattr(gpu, "open_nvml", lambda: open_nvml(nvml_library))
    uuids = [gpu_watch("cuda", rank, {}).use([gpu_watch("cuda", rank, {}).sample()]).uuid[:8] for rank in (0, 1)]
    assert uuids == ["GPU-0000", "GPU-1111"]
    assert gpu_watch("cuda", 2, {}) is gpu_watch("cpu", 0, {}) is None


def test_without_a_driver_nothing_is_watched():
    if open_nvml(LIBRARY) is not None:
        pytest.skip("this machine has an NVIDIA driver")
    assert gpu_watch("cuda", 0, {}) is None


def test_the_loop_samples_the_gpu_between_blocks(nvml_library, monkeypatch):
    monkeypatch.setenv("FAKE_NVML", "throttle=0x20")
    monkeypatch.setattr(gpu, "open_nvml", lambda: open_nvml(nvml_library))

    class Idle(Program):
        def step(self):
            pass

    run = run_steps(Idle(), Budget(min_steps=3, max_steps=40), lambda seconds: None, watch=gpu_watch("cuda", 0, {}))
    assert all(sample.gpu.throttle_bits == 0x20 for _, sample in run.samples)
    assert len(run.gpu_samples(0)) == len(run.samples)


def test_a_case_on_a_gpu_has_it_in_its_record(nvml_library, monkeypatch):
    from steptime.core.backends.base import find

    monkeypatch.setenv("FAKE_NVML", f"pid={OTHER} throttle=0x4 sm_clock=1200")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(gpu, "open_nvml", lambda: open_nvml(nvml_library))
    monkeypatch.setattr(find("fake"), "devices", ("cpu", "cuda"), raising=False)
    monkeypatch.setattr(worker, "guard_memory", lambda case: None)  # this process is not the worker's
    case = Case("mlp", "fake", 8, device="cuda", budget=Budget(min_steps=3, max_steps=5))
    contention = worker.run_case(Job("j", case), Events(-1), time.time()).contention
    assert contention.gpu.sm_mhz == 1200 and contention.gpu.throttled["power cap"] == 1


def test_of_several_ranks_the_card_that_was_disturbed_most_decides(report):
    calm, hot = vars(report("")), vars(report("throttle=0x40"))
    assert slowest_card(verdict, [calm, calm, calm]) == verdict(GpuUse(**calm))
    worst = slowest_card(verdict, [calm, json.loads(json.dumps(hot)), calm])
    assert worst.verdict == "contended" and worst.reason.startswith("rank 1: the GPU lowered its clock")
    assert slowest_card(verdict, [None, None]).gpu is None
