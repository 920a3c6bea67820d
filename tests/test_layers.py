"""The arrows of the architecture point one way."""

import ast
import functools
import sys
from pathlib import Path

import pytest

import steptime
from steptime.launch.pack import INNER

ROOT = Path(steptime.__file__).parent

# Each part may import those above it, and nothing below.
ORDER = [
    "errors",
    "schema",
    "atomic",
    "stats",
    "machine",
    "models",
    "data",
    "oracle",
    "backends",
    "parity",
    "worker",
    "environments",
    "store",
    "plan",
    "launch",
    "probe",
    "proof",
    "sweep",
    "guide",
    "cli",
]
INNER_PARTS = {name.removesuffix(".py") for name in INNER}
FRAMEWORKS = {"torch", "tensorflow", "jax", "keras", "mxnet", "caffe", "onnxruntime", "onnx", "openvino", "paddle", "tinygrad"}


def sources() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def part_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@functools.cache
def imports(path: Path) -> list[tuple[str, bool]]:
    """(module, whether at the top level) of every import in a file."""
    tree = ast.parse(path.read_text(), feature_version=(3, 11))
    top = set(map(id, tree.body))
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, id(node) in top) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.append((node.module or "", id(node) in top))
            found += [(f"{node.module}.{alias.name}", id(node) in top) for alias in node.names]
    return found


@pytest.mark.parametrize("path", sources(), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_follow_the_arrows(path):
    own = part_of(path)
    if own == "__init__":
        return
    for module, _ in imports(path):
        if module.startswith("steptime."):
            other = module.split(".")[1]
            if other in ORDER:
                assert ORDER.index(other) <= ORDER.index(own), f"{own} may not import {other}"


@pytest.mark.parametrize("path", [p for p in sources() if part_of(p) in INNER_PARTS], ids=lambda p: str(p.relative_to(ROOT)))
def test_the_inner_half_needs_only_numpy_and_the_standard_library(path):
    allowed = set(sys.stdlib_module_names) | {"numpy", "steptime"}
    in_backend = part_of(path) == "backends"
    for module, at_top in imports(path):
        base = module.split(".")[0]
        assert base in allowed or (in_backend and base in FRAMEWORKS and not at_top), f"imports {module}"


@pytest.mark.parametrize("path", [p for p in sources() if part_of(p) in INNER_PARTS], ids=lambda p: str(p.relative_to(ROOT)))
def test_the_inner_half_is_written_in_python_3_9(path):
    ast.parse(path.read_text(), feature_version=(3, 9))


@pytest.mark.parametrize("path", [p for p in sources() if part_of(p) not in INNER_PARTS], ids=lambda p: str(p.relative_to(ROOT)))
def test_the_outer_half_never_imports_a_framework(path):
    assert not {module.split(".")[0] for module, _ in imports(path)} & FRAMEWORKS


def test_every_part_has_its_place_in_the_order():
    assert {part_of(p) for p in sources()} - {"__init__"} == set(ORDER)


def test_files_stay_small_and_are_named_for_what_they_hold():
    for path in sources():
        assert path.read_text().count("\n") <= 500, f"{path} has two nouns in it"
        assert path.stem not in {"util", "utils", "helper", "helpers", "common", "misc", "manager"}
