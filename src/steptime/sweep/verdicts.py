"""Pure rules: which record of a case counts, which cases run again, and which batches cannot fit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from steptime.core.schema import TRUST, Case, Record, Status, Verdict, case_key

RETRIES = ("", "failed", "contended", "all")


def better(record: Record) -> tuple[int, int]:
    """A sort key for the records of one case: measured before failed, the quieter machine first."""
    trust = TRUST.get(record.contention.verdict, 4) if record.contention else 4
    return (0 if record.status == Status.OK else 1), trust


def best_of(records: Iterable[Record]) -> dict[str, Record]:
    """For each case the record that counts: the best, and of equals the newest. Cancelled records never count."""
    best: dict[str, Record] = {}
    for record in records:
        key = case_key(record.case)
        if record.status != Status.CANCELLED and (key not in best or better(record) <= better(best[key])):
            best[key] = record
    return best


def contended(record: Record) -> bool:
    return record.status == Status.OK and record.contention is not None and record.contention.verdict == Verdict.CONTENDED


def runs_again(record: Record, retry: str) -> bool:
    """Whether to run a case with this record again."""
    if retry == "failed":
        return record.status != Status.OK
    return retry == "all" or (retry == "contended" and contended(record))


class BatchLimits:
    """After a batch ran out of memory, larger ones of the same configuration are not tried."""

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self._smallest: dict[str, int] = {}
        for record in records:
            self.learn(record)

    def learn(self, record: Record) -> None:
        if record.status == Status.OUT_OF_MEMORY:
            key = _without_batch(record.case)
            self._smallest[key] = min(record.case.batch, self._smallest.get(key, record.case.batch))

    def too_large(self, case: Case) -> int | None:
        """The smaller batch that ran out of memory, if there is one."""
        smallest = self._smallest.get(_without_batch(case))
        return smallest if smallest is not None and case.batch > smallest else None


def _without_batch(case: Case) -> str:
    return case_key(replace(case, batch=1, repeat=0))
