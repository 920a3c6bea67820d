"""The command line that measures a case again."""

from __future__ import annotations

import shlex

from steptime.core.schema import Case, Phase


def repeat_command(case: Case) -> str:
    """The command line that measures the same case again."""
    words = ["steptime", "run", case.model, "--backend", case.backend, "--phase", case.phase, "--batch", str(case.batch)]
    words += ["--precision", case.precision, "--threads", str(case.threads), "--device", case.device]
    if case.phase == Phase.TRAINING:
        words += ["--optimizer", case.optimizer, "--learning-rate", str(case.learning_rate)]
    if case.data != "synthetic":
        words += ["--data", case.data, "--data-store", case.data_store]
    for flag, options in (("-m", case.model_options), ("-b", case.backend_options)):
        for key, value in options.items():
            words += [flag, f"{key}={str(value).lower() if isinstance(value, bool) else value}"]
    return shlex.join(words)
