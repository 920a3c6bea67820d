"""Questions about backends are answered by other interpreters, which may die of them."""

import sys

import pytest

from steptime.checks.parity_run import run_parity
from steptime.core.parity.answer import Question


def interpreter(tmp_path, body):
    """A program that is given the worker, --parity and the question, as a framework's Python is."""
    path = tmp_path / "python"
    path.write_text(
        f"#!{sys.executable}\nimport json, os, signal, sys, time\nfamilies = json.load(open(sys.argv[3]))['families']\n{body}"
    )
    path.chmod(0o755)
    return path


def test_the_reference_is_the_same_as_itself():
    answers = run_parity(Question("reference", ["mlp", "dropout"]), sys.executable)
    assert answers["mlp"]["weights"] == 0
    assert answers["dropout"]["repeatable"]


def test_a_family_that_kills_the_interpreter_is_named_and_the_others_are_asked_again(tmp_path):
    body = """
for family in families:
    if family == "lenet":
        os.kill(os.getpid(), signal.SIGKILL)
    print("noise of the framework")
    print(json.dumps({"family": family, "outputs": 0.0}), flush=True)
"""
    answers = run_parity(Question("reference", ["mlp", "lenet", "llama"]), interpreter(tmp_path, body))
    assert answers["mlp"] == answers["llama"] == {"outputs": 0.0}
    assert "exit -9" in answers["lenet"]["wrong"]


@pytest.mark.slow
def test_a_family_that_says_nothing_for_too_long_is_named_and_the_others_are_asked_again(tmp_path, monkeypatch):
    monkeypatch.setattr("steptime.checks.parity_run.LIMIT_SECONDS", 2.0)
    body = """
for family in families:
    time.sleep(60 if family == "lenet" else 0.6)
    print(json.dumps({"family": family, "outputs": 0.0}), flush=True)
"""
    answers = run_parity(Question("reference", ["mlp", "resnet18", "resnet20", "lenet", "llama"]), interpreter(tmp_path, body))
    assert {family for family, figures in answers.items() if figures == {"outputs": 0.0}} == {
        "mlp",
        "resnet18",
        "resnet20",
        "llama",
    }
    assert answers["lenet"] == {"wrong": "no answer in 2 s"}


def test_an_interpreter_without_the_framework_is_wrong_for_every_family(tmp_path):
    answers = run_parity(Question("reference", ["mlp", "lenet"]), interpreter(tmp_path, "sys.exit('no such module')"))
    assert all("no such module" in figures["wrong"] for figures in answers.values())


def test_an_illegal_instruction_is_answered_by_a_lower_instruction_set(tmp_path):
    body = """
if "ONEDNN_MAX_CPU_ISA" not in os.environ:
    os.kill(os.getpid(), signal.SIGILL)
print(json.dumps({"family": families[0], "outputs": 0.0, "isa": os.environ["ONEDNN_MAX_CPU_ISA"]}))
"""
    assert run_parity(Question("pytorch", ["mlp"]), interpreter(tmp_path, body))["mlp"]["isa"] == "AVX512_CORE_FP16"


def test_a_model_that_the_framework_lacks_is_unsupported_with_the_reason():
    figures = run_parity(Question("reference", ["mlp"], precision="bf16"), sys.executable)["mlp"]
    assert "reference has no precision bf16" in figures["unsupported"]
