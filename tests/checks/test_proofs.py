"""A proof is remembered for the version that it was made of."""

import sys

import pytest

from steptime.checks import proofs as memory
from steptime.checks.proofs import path_of, prove, stored_proof


@pytest.mark.slow
def test_the_reference_is_proven_and_remembered():
    proof = prove("reference", "1.0", sys.executable)
    assert not proof.wrong and not proof.unsupported and "miscellany" in proof.same
    assert stored_proof("reference", "1.0") == proof
    assert stored_proof("reference", "2.0") is None


def test_what_is_wrong_is_said_with_the_family(monkeypatch):
    answers = {"mlp": {"outputs": 0.5}, "llama": {"unsupported": "no operator Attention"}, "lenet": {"outputs": 0.0}}
    monkeypatch.setattr(memory, "run_parity", lambda question, python: answers)
    proof = prove("reference", "1.0", sys.executable)
    assert (proof.same, list(proof.unsupported), list(proof.wrong)) == (["lenet"], ["llama"], ["mlp"])
    assert "NO: mlp: outputs off by 0.5" in proof.words


def test_a_damaged_memory_is_no_proof():
    path_of("reference").parent.mkdir(parents=True)
    path_of("reference").write_text("{")
    assert stored_proof("reference") is None


@pytest.mark.real
def test_the_doctor_proves_when_asked_and_remembers(steptime):
    assert steptime("doctor", "reference", "--json").json[0]["proven"] == ""
    proven = steptime("doctor", "reference", "--prove", "--json").json[0]
    assert "families in fp64" in proven["proven"]
    assert steptime("doctor", "reference", "--json").json[0]["proven"] == proven["proven"]
    assert "families in fp64" in steptime("backends", "reference").out
