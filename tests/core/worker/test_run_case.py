"""A case from its description to its record, in this process."""

import time

from steptime.core.backends.base import find
from steptime.core.schema import Budget, Case, Job
from steptime.core.worker import run_case as module
from steptime.core.worker.events import Events


def test_a_case_is_checked_once(monkeypatch):
    backend, checks = find("fake"), []
    check = backend.check
    monkeypatch.setattr(backend, "check", lambda case: (checks.append(case), check(case)))
    monkeypatch.setattr(module, "guard_memory", lambda case: None)  # this process is not the worker's
    case = Case("mlp", "fake", 8, budget=Budget(min_steps=3, max_steps=5))
    assert module.run_case(Job("j", case), Events(-1), time.time()).status == "ok"
    assert len(checks) == 1
