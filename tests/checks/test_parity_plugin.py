"""The parity suite as anybody's pytest runs it."""

import subprocess
import sys

import pytest

from steptime.checks.parity_tolerances import limits_of, objections
from steptime.core.backends.base import find


@pytest.fixture
def suite(tmp_path):
    def run(*arguments):
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "--pyargs",
            "steptime.checks.parity_suite",
            "-q",
            *arguments,
        ]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        return done.returncode, done.stdout + done.stderr

    return run


@pytest.mark.real
def test_it_runs_outside_of_this_repository_for_the_backend_that_is_asked_for(suite):
    code, text = suite("--parity-backend", "reference", "--parity-families", "mlp,lenet")
    assert code == 0, text
    assert "8 passed" in text


@pytest.mark.real
def test_without_a_backend_nothing_is_asked(suite):
    assert "passed" not in suite()[1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--parity-backend", "torch"], "unknown backend 'torch'"),
        (["--parity-backend", "pytorch:layout=2", "--parity-families", "mnist"], "unknown family 'mnist'"),
        (["--parity-backend", "pytorch:lay=2"], "unknown option of backend pytorch 'lay'"),
    ],
)
def test_what_it_does_not_know_is_one_line_with_the_choices(suite, arguments, words):
    code, text = suite(*arguments)
    assert code == 4
    assert words in text
    assert "known: " in text
    assert "Traceback" not in text


@pytest.mark.real
def test_a_backend_that_is_not_installed_is_skipped_with_the_command(suite, monkeypatch, tmp_path):
    monkeypatch.setenv("STEPTIME_HOME", str(tmp_path))
    code, text = suite("--parity-backend", "pytorch", "--parity-families", "mlp", "-rs")
    assert code == 0
    assert "steptime setup pytorch" in text


def test_limits_are_wider_only_where_a_backend_says_why():
    strict, keras = limits_of(find("pytorch"), "fp64"), limits_of(find("keras"), "fp64")
    assert strict["outputs"] == 1e-10
    assert keras["outputs"] == 1e-7
    assert limits_of(find("keras"), "fp64", "adam")["weights"] == 1e-4
    assert keras["weights"] == strict["weights"]


def test_what_is_not_a_number_is_too_far():
    assert objections({"outputs": float("nan")}, {"outputs": 1.0})
    assert objections({"outputs": float("inf")}, {"outputs": 1.0})
