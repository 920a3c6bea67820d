from __future__ import annotations

from pathlib import Path

import pytest

from steptime.core.machine.virtualisation import systemd_detect_virt, virtualised
from steptime.core.schema import Machine

FIRMWARE = "sys/class/dmi/id/sys_vendor"
PRODUCT = "sys/class/dmi/id/product_name"


def seen(root: Path, files=(), flags=(), environ=None, systemd=None) -> str:
    for name, text in dict(files).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return virtualised(set(flags), root, environ or {}, lambda kind: (systemd or {}).get(kind, ""))


@pytest.mark.parametrize(
    ("signs", "words"),
    [
        ({}, ""),
        ({"flags": ["hypervisor"]}, "virtual machine"),
        ({"flags": ["hypervisor"], "files": {FIRMWARE: "QEMU\n"}}, "virtual machine (QEMU)"),
        ({"files": {FIRMWARE: "Amazon EC2", PRODUCT: "c5.metal"}}, ""),
        ({"files": {FIRMWARE: "Dell Inc.", PRODUCT: "PowerEdge R740, Intel Xeon"}}, ""),
        ({"files": {FIRMWARE: "Microsoft Corporation", PRODUCT: "Virtual Machine"}},
         "virtual machine (Microsoft Corporation Virtual Machine)"),
        ({"files": {"sys/hypervisor/type": "xen\n"}}, "virtual machine (xen)"),
        ({"files": {"proc/device-tree/hypervisor/compatible": "linux,kvm\0"}}, "virtual machine (linux,kvm)"),
        ({"systemd": {"--vm": "kvm"}}, "virtual machine (kvm)"),
        ({"systemd": {"--vm": "kvm", "--container": "docker"}}, "container (docker) in a virtual machine (kvm)"),
        ({"files": {".dockerenv": ""}}, "container (docker)"),
        ({"files": {"run/.containerenv": ""}, "flags": ["hypervisor"]}, "container (podman) in a virtual machine"),
        ({"environ": {"container": "systemd-nspawn"}}, "container (systemd-nspawn)"),
        ({"environ": {"APPTAINER_CONTAINER": "/a.sif"}}, "container (apptainer)"),
        ({"files": {"proc/1/cgroup": "4:memory:/docker/0123abc\n"}}, "container (docker)"),
        ({"files": {"proc/self/cgroup": "0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-1.scope\n"}},
         "container (kubepods)"),
        ({"files": {"proc/self/cgroup": "0::/system.slice/slurmstepd.scope/job_1/step_0\n"}}, ""),
        ({"files": {"proc/1/cgroup": "0::/system.slice/docker.service\n"}}, ""),
    ],
)  # fmt: skip
def test_every_sign_of_a_container_or_a_virtual_machine_is_read(tmp_path, signs, words):
    assert seen(tmp_path, **signs) == words


@pytest.mark.parametrize(
    ("words", "runtime"),
    [
        ("", "bare metal"),
        ("virtual machine", "virtual machine"),
        ("virtual machine (QEMU)", "virtual machine"),
        ("container (docker) in a virtual machine (kvm)", "container in a virtual machine"),
    ],
)
def test_the_runtime_is_the_same_for_records_of_every_version(words, runtime):
    assert Machine("i", "h", "c", 1, 1, 1, 1.0, 1, 1, "o", "k", "a", words).runtime == runtime


def test_systemd_is_asked_where_it_is_and_none_is_nothing(tmp_path, monkeypatch):
    tool = tmp_path / "systemd-detect-virt"
    tool.write_text('#!/bin/sh\n[ "$1" = --vm ] && { echo kvm; exit 0; }\necho none\nexit 1\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert (systemd_detect_virt("--vm"), systemd_detect_virt("--container")) == ("kvm", "")
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    assert systemd_detect_virt("--vm") == ""
