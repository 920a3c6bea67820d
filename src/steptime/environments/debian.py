"""Packages of an older Debian in a folder: no root, no chroot, no maintainer scripts.

apt resolves and downloads them with a state of its own (sources, lists, cache), which is thrown away afterwards; dpkg-deb
unpacks them; and a small script runs their interpreter through their own loader, so that neither the C library nor
anything else of the machine is involved. To whoever starts it, that script is an ordinary Python.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from urllib.parse import unquote

from steptime.core.errors import SetupError
from steptime.environments.pins import Debian

KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
ELSEWHERE = ("http://deb.debian.org/debian", "http://archive.debian.org/debian")
UNUSED = ("usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/icons", "usr/share/X11")
REPORT_SECONDS = 10.0
Say = Callable[[str], None]


def unpack(wanted: Debian, folder: Path, log: Path, say: Say) -> list[str]:
    """The packages and all that they need into folder/root; 'name=version' of each."""
    for tool in ("apt-get", "dpkg-deb"):
        if not shutil.which(tool):
            raise SetupError(
                f"it comes as packages of Debian {wanted.suite}, which need {tool} (Debian or Ubuntu); none is on PATH"
            )
    if not KEYS.exists():
        raise SetupError(
            f"it comes as packages of Debian {wanted.suite}, whose signatures need {KEYS}: install debian-archive-keyring"
        )
    state, root = folder / "apt", folder / "root"
    apt = ["apt-get", *private_state(state)]
    mirror = _update(apt, state, wanted.suite, log)
    chosen = [*wanted.packages]
    listed = _run([*apt, "install", "--print-uris", *chosen], log)
    count, size = downloads(listed)
    say(f"{count} packages of Debian {wanted.suite} ({size / 1e6:.0f} MB) from {mirror}")
    _download([*apt, "install", "--download-only", *chosen], state, count, log, say)
    debs = sorted((state / "cache" / "archives").glob("*.deb"))
    taken = [deb for deb in debs if package_of(deb.name).partition("=")[0] not in wanted.replaced]
    root.mkdir()
    for deb in taken:
        _run(["dpkg-deb", "--extract", str(deb), str(root)], log)
    for part in UNUSED:
        shutil.rmtree(root / part, ignore_errors=True)
    shutil.rmtree(state)
    left_out = f", without {' and '.join(wanted.replaced)}" if wanted.replaced else ""
    say(f"unpacked {len(taken)} packages into {root}{left_out}; they run through their own loader")
    return [package_of(deb.name) for deb in taken]


def private_state(state: Path) -> list[str]:
    """apt's options for sources, lists and a cache of our own. Proxies and the like stay the machine's."""
    for part in ("lists/partial", "cache/archives/partial", "sources", "preferences"):
        (state / part).mkdir(parents=True)
    (state / "status").touch()
    options = {
        "Dir::Etc::sourcelist": state / "sources.list",
        "Dir::Etc::sourceparts": state / "sources",
        "Dir::Etc::preferencesparts": state / "preferences",
        "Dir::State": state,
        "Dir::State::lists": state / "lists",
        "Dir::State::status": state / "status",
        "Dir::Cache": state / "cache",
        "Dir::Cache::archives": state / "cache" / "archives",
        "Acquire::Languages": "none",
        "Acquire::Check-Valid-Until": "false",
        "Acquire::Retries": "3",
        "APT::Install-Recommends": "false",
        "APT::Sandbox::User": "",
        "Binary::apt-get::APT::Keep-Downloaded-Packages": "true",
    }
    return ["-q", "-y", *(part for key, value in options.items() for part in ("-o", f"{key}={value}"))]


def mirrors(sources: Iterable[str]) -> list[str]:
    """Debian mirrors in the text of the machine's own apt sources first, then Debian's own places.

    An old release moves from a mirror's debian/ to the archive, which some keep beside it.
    """
    urls: list[str] = []
    for text in sources:
        lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
        urls += [url.rstrip("/") for line in lines for url in re.findall(r"https?://\S+/debian/?(?=\s|$)", line)]
    beside = [f"{url}-archive/debian" for url in urls]
    return list(dict.fromkeys([*urls, *beside, *ELSEWHERE]))


def downloads(listing: str) -> tuple[int, int]:
    """How many files `apt-get --print-uris` lists, and their bytes."""
    sizes = re.findall(r"^'[^']+' \S+ (\d+)", listing, re.M)
    return len(sizes), sum(map(int, sizes))


def package_of(filename: str) -> str:
    """'libc6_2.31-13%3a1_amd64.deb' -> 'libc6=2.31-13:1'"""
    name, version, _ = filename.split("_")
    return f"{name}={unquote(version)}"


def add_wheels(packages: Sequence[str], folder: Path, pip_arguments: Sequence[str], log: Path) -> None:
    """Wheels for the unpacked interpreter, fetched by a pip of ours, where Debian's Python looks first."""
    (library,) = (folder / "root" / "usr" / "lib").glob("python3.*")
    version = library.name.removeprefix("python")
    target = folder / "root" / "usr" / "local" / "lib" / library.name / "dist-packages"
    helper = folder / "pip"
    _run([sys.executable, "-m", "venv", str(helper)], log)
    platforms = [f"--platform=manylinux{tag}_{platform.machine()}" for tag in ("2014", "_2_17")]
    fetch = [
        "install",
        "--disable-pip-version-check",
        "--no-deps",
        "--only-binary=:all:",
        f"--python-version={version}",
        *platforms,
    ]
    _run([str(helper / "bin" / "python"), "-m", "pip", *fetch, "--target", str(target), *pip_arguments, *packages], log)
    shutil.rmtree(helper)


def write_interpreter(path: Path, folder: Path) -> None:
    (loader,) = (folder / "root" / "lib").glob("*/ld-[0-9]*.so")
    (python,) = (each for each in (folder / "root" / "usr" / "bin").glob("python3.*") if re.fullmatch(r"python3\.\d+", each.name))
    path.parent.mkdir()
    path.write_text(interpreter_text(loader.parent.name, loader.name, python.name))
    path.chmod(0o755)


def interpreter_text(machine: str, loader: str, python: str) -> str:
    """A script that is a Python: the folder may be moved, and what the machine's own libraries are does not matter."""
    places = (f"usr/lib/{machine}/openblas-pthread", f"lib/{machine}", f"usr/lib/{machine}", "lib", "usr/lib")
    libraries = ":".join(f"$root/{place}" for place in places)
    return f"""#!/bin/sh
# Python of an unpacked Debian, through that Debian's loader and libraries.
root=$(cd "$(dirname "$(readlink -f "$0")")/../root" && pwd) || exit 127
export PYTHONHOME="$root/usr" PYTHONDONTWRITEBYTECODE=1
unset LD_LIBRARY_PATH LD_PRELOAD
exec "$root/lib/{machine}/{loader}" --inhibit-cache --library-path "{libraries}" "$root/usr/bin/{python}" "$@"
"""


def _update(apt: Sequence[str], state: Path, suite: str, log: Path) -> str:
    """The first mirror that has the release."""
    etc = Path("/etc/apt")
    files = [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*"))]
    texts = [path.read_text(errors="replace") for path in files if path.is_file() and os.access(path, os.R_OK)]
    tried = mirrors(texts)
    for mirror in tried:
        (state / "sources.list").write_text(f"deb [signed-by={KEYS}] {mirror} {suite} main\n")
        with open(log, "ab") as file:
            done = subprocess.run([*apt, "--error-on=any", "update"], stdin=subprocess.DEVNULL, stdout=file, stderr=file)
        if done.returncode == 0:
            return mirror
    raise SetupError(f"no mirror has Debian {suite}; tried {', '.join(tried)} (why, in {log})")


def _download(command: Sequence[str], state: Path, count: int, log: Path, say: Say) -> None:
    archives = state / "cache" / "archives"
    with open(log, "ab") as file:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file)
    while True:
        try:
            code = process.wait(REPORT_SECONDS)
            break
        except subprocess.TimeoutExpired:
            say(f"downloaded {len(list(archives.glob('*.deb')))} of {count} packages")
        except BaseException:
            process.terminate()
            raise
    if code:
        raise SetupError(f"downloading failed: {_last(log)} (all of it in {log})")


def _run(command: Sequence[str], log: Path) -> str:
    """What it prints; all of it goes to the log."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    with open(log, "a") as file:
        file.write(done.stdout)
    if done.returncode:
        raise SetupError(f"'{' '.join(command)[:120]}' failed: {_last(log)} (all of it in {log})")
    return done.stdout


def _last(log: Path) -> str:
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return (lines or ["no output"])[-1]
