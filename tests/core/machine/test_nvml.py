"""Against a compiled library with NVML's structures and return codes."""

import pytest

from steptime.core.machine.nvml import Device, open_nvml


@pytest.fixture(autouse=True)
def opened_anew():
    open_nvml.cache_clear()
    yield
    open_nvml.cache_clear()


@pytest.fixture
def card(nvml_library, monkeypatch):
    """The first GPU of a machine whose cards report these values."""

    def first(values: str) -> Device:
        monkeypatch.setenv("FAKE_NVML", values)
        return open_nvml(nvml_library).devices()[0]

    return first


def test_every_device_has_its_name_uuid_and_place(nvml_library, monkeypatch):
    monkeypatch.setenv("FAKE_NVML", "devices=3 mixed=1")
    nvml = open_nvml(nvml_library)
    assert [device.name for device in nvml.devices()] == ["NVIDIA A100-SXM4-40GB", "NVIDIA T400", "NVIDIA T400"]
    assert [device.uuid[:9] for device in nvml.devices()] == ["GPU-00000", "GPU-11110", "GPU-22220"]
    assert [device.index for device in nvml.devices()] == [0, 1, 2]
    assert nvml.driver() == "550.54.14"


def test_structures_are_read_as_the_library_writes_them(card):
    device = card("own_pid=5 pid=4000000000 pid_percent=37 power_violation=2500000000")
    assert (device.memory().total, device.memory().free, device.memory().used) == (40 << 30, 37 << 30, 3 << 30)
    assert device.processes() == {5: 1 << 30, 4000000000: 1 << 30}
    assert device.utilisation(1) == {5: 0.5, 4000000000: 0.37}
    assert device.violation_seconds(0) == 2.5
    assert device.ecc() is True
    assert device.number("nvmlDeviceGetTotalEnergyConsumption", wide=True) == 5000


def test_numbers_wider_than_32_bits_are_whole(card):
    assert card("energy=5000000000").number("nvmlDeviceGetTotalEnergyConsumption", wide=True) == 5_000_000_000


def test_what_a_consumer_card_does_not_support_is_none(card):
    device = card("ecc=none power=none pid=none pid_percent=none power_violation=none memory_used=none")
    assert device.ecc() is device.memory() is device.processes() is device.utilisation(1) is None
    assert device.number("nvmlDeviceGetPowerUsage") is device.violation_seconds(0) is None
    assert device.number("nvmlDeviceGetTemperature", 0) == 61


def test_memory_of_a_process_that_the_driver_does_not_know_is_none(card):
    assert card("pid=9 pid_memory=none").processes() == {9: None}


def test_a_function_that_an_old_driver_lacks_is_none(card):
    assert card("").number("nvmlDeviceGetSomethingOfTheFuture") is None


def test_no_sample_of_utilisation_is_not_an_error(card):
    assert card("").utilisation(1) == {}


def test_a_gpu_that_is_lost_reports_nothing(card):
    device = card("")
    assert device.number("nvmlDeviceGetTemperature", 0) == 61
    device = card("lost=1")
    assert device.number("nvmlDeviceGetTemperature", 0) is device.memory() is device.processes() is device.utilisation(1) is None


def test_without_a_driver_there_is_no_nvml(nvml_library, monkeypatch):
    monkeypatch.setenv("FAKE_NVML", "unloaded=1")
    assert open_nvml(nvml_library) is None
    assert open_nvml("/nonexistent/libnvidia-ml.so.1") is None
