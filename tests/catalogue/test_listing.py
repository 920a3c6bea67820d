"""The zoo as a list, here and in the documentation."""

import subprocess
import sys
from pathlib import Path

from steptime.catalogue.listing import catalogue
from steptime.core.models import zoo

ROOT = Path(__file__).parents[2]


def test_every_model_is_listed_with_its_counts():
    entries = {e.name: e for e in catalogue()}
    assert set(entries) == set(zoo.models())
    assert entries["resnet50"].parameters == 25_557_032
    assert entries["resnet50"].input == (224, 224, 3)
    assert entries["gpt2_small"].family == "gpt"


def markdown() -> str:
    lines = ["| model | family | input | parameters | GFLOPs forward | year | paper |", "|---|---|---|---:|---:|---|---|"]
    for e in catalogue():
        counts = f"{e.parameters:,} | {e.flops_forward / 1e9:.4g}"
        lines.append(f"| {e.name} | {e.family} | {' × '.join(map(str, e.input))} | {counts} | {e.year} | {e.paper} |")
    return "\n".join(lines) + "\n"


def test_the_table_in_the_documentation_is_that_of_the_zoo():
    assert markdown() in (ROOT / "docs" / "models.md").read_text()


def test_listing_needs_no_framework_not_even_numpy_and_little_time():
    code = """
import sys, time
from tests.effort import unit_seconds
begin = time.process_time()
from steptime.catalogue.listing import catalogue
catalogue()
spent = time.process_time() - begin
assert not {"numpy", "torch", "tensorflow", "jax"} & set(sys.modules)
print(spent / unit_seconds())
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 12  # half a second where a quiet machine takes a seventh
