import csv

import pytest

from steptime.store.devices import Device, device_named, device_table
from steptime.store.names import device


@pytest.mark.parametrize(
    ("spellings", "name"),
    [
        (["GeForce GTX 1080 Ti", "Nvidia 1080Ti", "GTX 1080Ti", "NVIDIA GeForce GTX 1080 Ti", "1080 ti"], "GeForce GTX 1080 Ti"),
        (["Titan X", "GeForce GTX TITAN X", "GTX Titan X", "titan x"], "GeForce GTX TITAN X"),
        (["TITAN X", "TITAN X (Pascal)", "NVIDIA TITAN X (Pascal)"], "TITAN X (Pascal)"),
        (["RTX 2080 Super", "GeForce RTX 2080 SUPER", "2080 SUPER"], "GeForce RTX 2080 SUPER"),
        (["RTX 2080 MAX-Q", "GeForce RTX 2080 with Max-Q Design"], "GeForce RTX 2080 Max-Q"),
        (["RTX 8000", "Quadro RTX 8000", "GeForce RTX 8000"], "Quadro RTX 8000"),
        (["A100 40GB PCIe", "A100-PCIE-40GB", "NVIDIA A100-PCIE-40GB", "A100 40GB PCIE"], "A100-PCIE-40GB"),
        (["NVIDIA A100-SXM4-40GB", "A100-SXM4-40GB"], "A100-SXM4-40GB"),
        (["pro6000maxq", "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition"], "RTX PRO 6000 Blackwell Max-Q"),
        (["k80", "Tesla K80", "Nvidia Tesla K80"], "Tesla K80"),
        (["tpu-v3", "TPU v3", "tpuv3"], "TPU v3"),
        (["AMD MI25", "MI25"], "Radeon Instinct MI25"),
        (["i9-10940x", "Intel(R) Core(TM) i9-10940X CPU @ 3.30GHz"], "Intel Core i9-10940X"),
        (["AMD EPYC 7742 64-Core Processor", "AMD EPYC 7742"], "AMD EPYC 7742"),
    ],
)
def test_one_device_has_one_name(spellings, name):
    assert {device_named(device(spelling)[0]).name for spelling in spellings} == {name}
    assert {device_named(spelling).name for spelling in spellings} == {name}


def test_a_device_has_vendor_architecture_memory_and_year():
    assert device_named("RTX 3090") == Device("GeForce RTX 3090", "NVIDIA", "Ampere", 24, 2020)
    assert device_named("Tesla V100") == Device("Tesla V100", "NVIDIA", "Volta", None, 2017)


@pytest.mark.parametrize(
    ("name", "vendor", "memory"),
    [
        ("GeForce RTX 9999 99GB", "NVIDIA", 99),
        ("AMD Ryzen 9", "AMD", None),
        ("Intel Xeon Processor", "Intel", None),
        ("abacus", "", None),
    ],
)
def test_of_a_device_that_is_not_listed_only_what_its_name_tells_is_known(name, vendor, memory):
    assert device_named(name) == Device(name, vendor, "", memory, None)


@pytest.mark.parametrize("name", ["", "GPU", "CPU", "cpu", "x" * 10_000, "1080" * 200])
def test_what_is_no_name_stays_what_it_is(name):
    assert device_named(name) == Device(name)


def test_the_table_names_no_device_twice():
    rows = list(csv.DictReader(device_table().splitlines()))
    names = [name for row in rows for name in (row["name"], *filter(None, row["aliases"].split("|")))]
    assert len(names) == len(set(names)) and len(rows) > 100
    assert all(device_named(row["name"]).name == row["name"] for row in rows)
    assert all(2005 < int(row["year"]) < 2030 and row["vendor"] and row["architecture"] for row in rows)
