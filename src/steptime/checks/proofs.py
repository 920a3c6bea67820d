"""Which backends, in which version, were proven on this machine: kept under STEPTIME_HOME/proofs."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from steptime.checks.parity_run import run_parity
from steptime.checks.parity_tolerances import limits_of, objections
from steptime.core.atomic import write_text
from steptime.core.backends.base import find
from steptime.core.machine.home import home
from steptime.core.parity.answer import Question
from steptime.core.parity.families import covering
from steptime.core.schema import Phase, Precision


@dataclass(frozen=True)
class Proof:
    """A comparison of every operator: which families agreed, which the framework lacks, which are wrong and why."""

    backend: str
    version: str
    precision: str
    steps: int
    when: str
    same: list[str] = field(default_factory=list)
    unsupported: dict[str, str] = field(default_factory=dict)
    wrong: dict[str, str] = field(default_factory=dict)

    @property
    def words(self) -> str:
        if self.wrong:
            name, why = next(iter(self.wrong.items()))
            return f"NO: {name}: {why}"
        lacking = f", {len(self.unsupported)} unsupported" if self.unsupported else ""
        return f"{len(self.same)} families in {self.precision}{lacking}"


def prove(name: str, version: str, python: Path) -> Proof:
    """Compares the backend in the covering families, and stores the result."""
    backend = find(name)
    precision = Precision.FP64 if Precision.FP64 in backend.precisions else Precision.FP32
    steps = 0 if Phase.TRAINING not in backend.phases else 2 if precision == Precision.FP64 else 1
    answers = run_parity(Question(name, list(covering()), precision, steps, options=dict(backend.parity_options)), python)
    limits = limits_of(backend, precision)
    lacking = {family: figures["unsupported"] for family, figures in answers.items() if "unsupported" in figures}
    wrong = {family: "; ".join(reasons) for family, figures in answers.items() if (reasons := objections(figures, limits))}
    same = [family for family in answers if family not in lacking and family not in wrong]
    proof = Proof(name, version, precision, steps, f"{datetime.now(UTC):%Y-%m-%d}", same, lacking, wrong)
    path_of(name).parent.mkdir(parents=True, exist_ok=True)
    write_text(path_of(name), msgspec.json.encode(proof).decode())
    return proof


def stored_proof(name: str, version: str = "") -> Proof | None:
    """Of this version, if there is one; an unreadable file counts as none."""
    try:
        proof = msgspec.json.decode(path_of(name).read_bytes(), type=Proof)
    except (OSError, msgspec.DecodeError):
        return None
    return proof if proof.version == version or not version else None


def path_of(name: str) -> Path:
    return home() / "proofs" / f"{name}.json"
