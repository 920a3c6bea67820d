"""The arrows of the architecture point one way."""

import ast
import functools
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import steptime
from steptime.core.backends.base import find, names

ROOT = Path(steptime.__file__).parent

# Each part may import those above it, and nothing below.
CORE = ["schema", "errors", "atomic", "stats", "machine", "models", "data", "reference", "backends", "parity", "worker"]
GUIDE = ["view", "query", "charts", "kinds", "web", "sharing", "server"]  # engine.py, in which kinds meet the index, is no room
ORDER = [
    "core",
    "analysis",
    "catalogue",
    "environments",
    "store",
    "importing",
    "plan",
    "launch",
    "schedulers",
    "probe",
    "sweep",
    "checks",
    "guide",
    "cli",
]
KINDS_OF_VIEWS = ("steptime.guide.view.view", "steptime.guide.kinds.base")  # a view finds its kind by name, when it is checked
FRAMEWORKS = {module for name in names() for module in find(name).modules}


def sources() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def part_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def parts(order: list[str], prefix: str) -> dict[str, int]:
    return {f"{prefix}.{name}": place for place, name in enumerate(order)}


PLACES = parts(ORDER, "steptime") | parts(CORE, "steptime.core") | parts(GUIDE, "steptime.guide")


def module_of(path: Path) -> str:
    return ".".join(["steptime", *path.relative_to(ROOT).with_suffix("").parts])


def places(importing: str, imported: str) -> Iterator[tuple[int, int]]:
    """Of both modules, in each list of parts that has both."""
    for depth in (2, 3):
        own, other = (".".join(module.split(".")[:depth]) for module in (importing, imported))
        if own in PLACES and other in PLACES and own.rpartition(".")[0] == other.rpartition(".")[0]:
            yield PLACES[own], PLACES[other]


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
    for module, at_top in imports(path):
        if (module_of(path), ".".join(module.split(".")[:4])) == KINDS_OF_VIEWS and not at_top:
            continue
        for own, other in places(module_of(path), module):
            assert other <= own, f"{module_of(path)} may not import {module}"


def frameworks_of(module: str) -> set[str]:
    """That a module of core may import: in a backend's folder the backend's own, in what backends share any."""
    parts = module.split(".")
    if parts[:3] != ["steptime", "core", "backends"]:
        return set()
    return set(find(parts[3]).modules) if parts[3] in names() else FRAMEWORKS


@pytest.mark.parametrize("path", [p for p in sources() if part_of(p) == "core"], ids=lambda p: str(p.relative_to(ROOT)))
def test_core_needs_only_numpy_and_the_standard_library(path):
    allowed = set(sys.stdlib_module_names) | {"numpy", "steptime"}
    own = frameworks_of(module_of(path))
    for module, at_top in imports(path):
        base = module.split(".")[0]
        assert base != "steptime" or module in ("steptime", "steptime.__version__") or module.startswith("steptime.core"), module
        assert base in allowed or (base in own and not at_top), f"imports {module}"


@pytest.mark.parametrize("path", [p for p in sources() if part_of(p) == "core"], ids=lambda p: str(p.relative_to(ROOT)))
def test_core_is_written_in_python_3_9(path):
    ast.parse(path.read_text(), feature_version=(3, 9))


@pytest.mark.parametrize("path", [p for p in sources() if part_of(p) != "core"], ids=lambda p: str(p.relative_to(ROOT)))
def test_the_tool_never_imports_a_framework(path):
    assert not {module.split(".")[0] for module, _ in imports(path)} & FRAMEWORKS


def test_every_part_has_its_place_in_the_order():
    assert {part_of(p) for p in sources()} - {"__init__", "__main__"} == set(ORDER)
    assert {p.stem for p in (ROOT / "core").iterdir()} - {"__init__", "__pycache__"} == set(CORE)
    assert {p.stem for p in (ROOT / "guide").iterdir() if p.is_dir()} - {"__pycache__"} == set(GUIDE)


def test_files_stay_small_and_are_named_for_what_they_hold():
    for path in sources():
        assert path.read_text().count("\n") <= 500, f"{path} has two nouns in it"
        assert path.stem not in {"util", "utils", "helper", "helpers", "common", "misc", "manager"}
