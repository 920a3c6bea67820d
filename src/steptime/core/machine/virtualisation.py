"""Whether a container or a virtual machine is between a process and the hardware.

systemd-detect-virt knows most; where there is none, what the kernel and the container tools leave behind says it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Set
from itertools import chain
from pathlib import Path

from steptime.core.machine.cpus import read

CONTAINER_FILES = {".dockerenv": "docker", "run/.containerenv": "podman", ".singularity.d": "apptainer"}
CONTAINER_VARIABLES = {
    "APPTAINER_CONTAINER": "apptainer",
    "SINGULARITY_CONTAINER": "apptainer",
    "CH_RUNNING": "charliecloud",
    "KUBERNETES_SERVICE_HOST": "kubernetes",
}
CONTAINER_GROUP = re.compile(r"/(docker|libpod|lxc|kubepods|containerd|crio)(?=[-/]|\.slice)")
"""in the path of a control group; docker.service is the daemon, which is in none"""
PRODUCTS = re.compile(
    r"QEMU|KVM|VMware|VirtualBox|Xen|Bochs|Parallels|Hyper-V|Virtual Machine|Google Compute Engine|OpenStack|Firecracker", re.I
)
"""what the firmware of virtual machines calls them; that of clouds' bare-metal instances names the cloud alone"""


def systemd_detect_virt(kind: str) -> str:
    """What systemd knows of this machine, by --vm or --container; empty where it sees nothing or is not there."""
    if not shutil.which("systemd-detect-virt"):
        return ""
    try:
        answer = subprocess.run(["systemd-detect-virt", kind], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout.decode("ascii", "replace").strip().replace("none", "")


def virtualised(
    flags: Set[str],
    root: Path = Path("/"),
    environ: Mapping[str, str] = os.environ,
    detect: Callable[[str], str] = systemd_detect_virt,
) -> str:
    """'container (docker) in a virtual machine (kvm)', 'container (docker)', 'virtual machine (kvm)', or nothing."""
    tool = _container(root, environ) or detect("--container") or _container_group(root)
    hypervisor = detect("--vm") or _hypervisor(flags, root)
    machine = "virtual machine" if hypervisor or "hypervisor" in flags else ""
    parts = (f"container ({tool})" if tool else "", f"{machine} ({hypervisor})" if hypervisor else machine)
    return " in a ".join(filter(None, parts))


def _container(root: Path, environ: Mapping[str, str]) -> str:
    """First of all, since Apptainer and its like share the host's processes, and systemd takes them for the host."""
    by_variable = (tool for variable, tool in CONTAINER_VARIABLES.items() if environ.get(variable))
    by_file = (tool for name, tool in CONTAINER_FILES.items() if (root / name).exists())
    return next(chain(by_variable, by_file), environ.get("container", ""))


def _container_group(root: Path) -> str:
    match = CONTAINER_GROUP.search(read(root / "proc/1/cgroup") + "\n" + read(root / "proc/self/cgroup"))
    return match.group(1) if match else ""


def _hypervisor(flags: Set[str], root: Path) -> str:
    firmware = " ".join(filter(None, (read(root / "sys/class/dmi/id" / name) for name in ("sys_vendor", "product_name"))))
    named = read(root / "sys/hypervisor/type") or read(root / "proc/device-tree/hypervisor/compatible").strip("\0")
    return named or (firmware if "hypervisor" in flags or PRODUCTS.search(firmware) else "")
