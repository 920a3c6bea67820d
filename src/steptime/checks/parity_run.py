"""Runs a parity question in the interpreter that has the backend's framework."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

from steptime.core.backends.base import find
from steptime.core.parity.answer import Question
from steptime.core.schema import to_json
from steptime.launch.job_folder import WORKER, worker_bytes

LIMIT_SECONDS = 1800.0
"""from one answer to the next"""
Answers = dict[str, dict[str, Any]]


def run_parity(question: Question, python: Path) -> Answers:
    """Family to figures. A family that kills the interpreter is wrong, with how it ended; the others are run again."""
    answers: Answers = {}
    while left := [family for family in question.families if family not in answers]:
        new, ending = _attempt(replace(question, families=left), python)
        answers.update(new)
        if not new or len(answers) < len(question.families):
            fatal = next(family for family in left if family not in new)
            answers[fatal] = {"wrong": ending}
    return answers


def _attempt(question: Question, python: Path) -> tuple[Answers, str]:
    """With lower and lower instruction sets, should the CPU advertise instructions that it cannot run."""
    backend = find(question.backend)
    for cap in ({}, *backend.instruction_caps):
        variables = {**backend.environment(question.case()), **backend.parity_environment, **cap}
        with tempfile.TemporaryDirectory(prefix="steptime-parity-") as name:
            folder = Path(name)
            (folder / "question.json").write_text(to_json(question))
            (folder / WORKER).write_bytes(worker_bytes())
            command: list[str | Path] = [python, folder / WORKER, "--parity", folder / "question.json"]
            lines, ending = _listen(command, folder, {**os.environ, **variables})
        if not ending.startswith(f"exit {-signal.SIGILL}:"):
            break
    return _answers(lines), ending


def _listen(command: list[str | Path], folder: Path, variables: dict[str, str]) -> tuple[list[str], str]:
    """The lines that it printed, and how it ended. The time limit is from one line to the next."""
    with (
        open(folder / "stderr", "w+", errors="replace") as stderr,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=stderr, text=True, errors="replace", cwd=folder, env=variables
        ) as running,
    ):
        lines, silent = [], threading.Event()
        while line := _next_line(running, silent):
            lines.append(line)
        code = running.wait()
        stderr.seek(0)
        last = (stderr.read().strip().splitlines() or ["no message"])[-1]
    return lines, f"no answer in {LIMIT_SECONDS:g} s" if silent.is_set() else f"exit {code}: {last}"


def _next_line(running: subprocess.Popen[str], silent: threading.Event) -> str:
    def give_up() -> None:
        silent.set()
        running.kill()

    assert running.stdout
    limit = threading.Timer(LIMIT_SECONDS, give_up)
    limit.start()
    try:
        return running.stdout.readline()
    finally:
        limit.cancel()


def _answers(lines: list[str]) -> Answers:
    """Lines of JSON; other lines are the framework's."""
    answers: Answers = {}
    for line in lines:
        try:
            figures = json.loads(line)
            answers[figures.pop("family")] = figures
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
    return answers
