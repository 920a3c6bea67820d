"""Puts a question about a backend to the interpreter that has its framework."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from steptime.backends.base import find
from steptime.launch.pack import WORKER, worker_bytes
from steptime.parity.answer import Question
from steptime.schema import to_json

LIMIT_SECONDS = 1800.0
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
            try:
                done = subprocess.run(
                    command,
                    capture_output=True,
                    text=True,
                    cwd=folder,
                    env={**os.environ, **variables},
                    timeout=LIMIT_SECONDS,
                )
            except subprocess.TimeoutExpired:
                return {}, f"no answer in {LIMIT_SECONDS:g} s"
        if done.returncode != -signal.SIGILL:
            break
    return _answers(done.stdout), _ending(done)


def _answers(text: str) -> Answers:
    """Lines of JSON; whatever else the framework printed is not ours."""
    found: Answers = {}
    for line in text.splitlines():
        try:
            figures = json.loads(line)
            found[figures.pop("family")] = figures
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
    return found


def _ending(done: subprocess.CompletedProcess[str]) -> str:
    last = (done.stderr.strip().splitlines() or ["no word"])[-1]
    return f"exit {done.returncode}: {last}"
