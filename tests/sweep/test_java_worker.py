"""The protocol in another language: the Java worker is compiled without its framework and tried rule by rule."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from steptime.core.models import zoo
from steptime.core.models.portable import portable
from steptime.core.schema import Budget, Case, Job, to_json

pytestmark = pytest.mark.real
SOURCES = Path(__file__).parents[2] / "workers" / "deeplearning4j" / "src" / "main" / "java" / "steptime"


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    if not shutil.which("javac") or not shutil.which("java"):
        pytest.skip("no javac: install a JDK 17 or newer, such as Debian's openjdk-17-jdk-headless")
    folder = tmp_path_factory.mktemp("classes")
    sources = sorted(path for path in SOURCES.glob("*.java") if not path.name.startswith("Deeplearning4j"))
    done = subprocess.run(["javac", "-Xlint:all", "-Werror", "-d", folder, *sources], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return folder


def test_it_keeps_every_rule_of_the_protocol(steptime, classes):
    done = steptime("doctor", "null", "--worker", f"java -cp {classes} steptime.Worker --engine null", "--json")
    assert done.code == 0, done.out
    assert len(done.json) == 10


@pytest.fixture
def work(classes, tmp_path):
    def run(case: Case, engine: str = "null"):
        (tmp_path / "job.json").write_text(to_json(Job("j", case)))
        (tmp_path / "graph.json").write_text(json.dumps(portable(zoo.build(case.model, case.model_options))))
        command = ["java", "-cp", classes, "steptime.Worker", "--engine", engine, tmp_path]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads((tmp_path / "record.json").read_text())

    return run


def test_it_knows_from_the_graph_what_a_step_costs(work):
    graph = zoo.build("lenet", {})
    record = work(Case("lenet", "null", 4, budget=Budget(min_steps=5, max_steps=8)))
    assert record["status"] == "ok"
    assert record["cost"]["parameters"] == graph.parameter_count
    assert record["cost"]["flops_per_step"] == 4 * graph.flops_training
    assert len(record["steps"]["seconds"]) == 8


def test_a_job_without_its_framework_is_a_failure_that_says_so(work):
    record = work(Case("lenet", "deeplearning4j", 4), engine="deeplearning4j")
    assert record["status"] == "launch_failed"
    assert "class path" in record["message"]
