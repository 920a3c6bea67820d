"""Puts a question about a backend to the interpreter that has its framework."""

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
from steptime.launch.worker_file import WORKER, worker_bytes

LIMIT_SECONDS = 1800.0
"""from one answer to the next"""
Answers = dict[str, dict[str, Any]]


def ask(question: Question, python: Path) -> Answers:
    """Family to figures. A family that kills the interpreter is said to crash, and the others are asked again."""
    answers: Answers = {}
    while left := [family for family in question.families if family not in answers]:
        found, ending = _attempt(replace(question, families=left), python)
        answers.update(found)
        if not found or len(answers) < len(question.families):
            dead = next(family for family in left if family not in found)
            answers[dead] = {"wrong": ending}
    return answers


def _attempt(question: Question, python: Path) -> tuple[Answers, str]:
    """With ever lower instruction sets, should the CPU advertise what it cannot run."""
    backend = find(question.backend)
    for cap in ({}, *backend.instruction_caps):
        variables = {**backend.environment(question.case()), **backend.proof_environment, **cap}
        with tempfile.TemporaryDirectory(prefix="steptime-proof-") as name:
            folder = Path(name)
            (folder / "question.json").write_text(to_json(question))
            (folder / WORKER).write_bytes(worker_bytes())
            command: list[str | Path] = [python, folder / WORKER, "--parity", folder / "question.json"]
            lines, ending = _listen(command, folder, {**os.environ, **variables})
        if not ending.startswith(f"exit {-signal.SIGILL}:"):
            break
    return _answers(lines), ending


def _listen(command: list[str | Path], folder: Path, variables: dict[str, str]) -> tuple[list[str], str]:
    """What it printed and how it ended. It may take long, but not too long between two lines."""
    with (
        open(folder / "stderr", "w+", errors="replace") as complaints,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=complaints, text=True, errors="replace", cwd=folder, env=variables
        ) as running,
    ):
        lines, silent = [], threading.Event()
        while line := _next_line(running, silent):
            lines.append(line)
        code = running.wait()
        complaints.seek(0)
        last = (complaints.read().strip().splitlines() or ["no word"])[-1]
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
    """Lines of JSON; whatever else the framework printed is not ours."""
    found: Answers = {}
    for line in lines:
        try:
            figures = json.loads(line)
            found[figures.pop("family")] = figures
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
    return found
