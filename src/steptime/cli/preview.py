"""What `steptime run --dry-run` prints: the cases, or a summary of many, and how long they would take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from steptime.cli.printing import table
from steptime.core.errors import Unsupported
from steptime.core.machine.describe import describe
from steptime.core.schema import Case
from steptime.plan.estimate import BUDGET, FAILED, RELATED, SAME, START_SECONDS, Estimator
from steptime.plan.expand import SCALARS, Expansion
from steptime.schedulers.request import Request, chunks, request_of, request_words
from steptime.schedulers.site import Site
from steptime.store.columns import case_words
from steptime.store.files import Store
from steptime.store.record_search import records_like

FEW = 20
"""the most cases that are listed; of more, the first and the last"""
ENDS = 4
MOST_VALUES = 8
IN_WORDS = ("model", "phase", "backend", "precision", "batch")
"""fields that case_words already shows"""

Counts = dict[str, Counter[Any]]


def preview(expansion: Expansion, cases: Sequence[Case], store: Store, as_json: bool, every: bool, site: Site | None) -> int:
    if as_json:
        _print_json(cases)
        return 0
    varied = varying(cases)
    named = {*expansion.plan.keys, "repeat"} - {*IN_WORDS}
    for line in case_lines(cases, every, [name for name in varied if name in named]):
        print(line)
    if len(cases) > FEW:
        rows = [(name, str(len(counts)), _values(counts)) for name, counts in varied.items()]
        print("\n" + table(("varies", "values", "cases of each"), rows) + "\n")
    machine = describe()
    for line in _closing(expansion, cases, Estimator(records_like(store, cases, machine.host), machine.id)):
        print(line)
    for line in _jobs(site, cases) if site else []:
        print(line)
    return 0


def _print_json(cases: Sequence[Case]) -> None:
    import msgspec

    encode = msgspec.json.Encoder().encode
    for case in cases:
        print(encode(case).decode())


def varying(cases: Sequence[Case]) -> Counts:
    """The fields and options that have more than one value, with how many cases have each."""
    counts: Counts = {name: Counter(map(attrgetter(name), cases)) for name in SCALARS}
    for group in ("model_options", "backend_options"):
        tables = {id(options): options for options in map(attrgetter(group), cases)}
        numbers = Counter(map(id, map(attrgetter(group), cases)))  # cases of the same options share one table
        for key in dict.fromkeys(key for options in tables.values() for key in options):
            values: Counter[Any] = Counter()
            for identity, number in numbers.items():
                values[tables[identity].get(key, "-")] += number
            counts[f"{group}.{key}"] = values
    return {name: values for name, values in counts.items() if len(values) > 1}


def case_lines(cases: Sequence[Case], every: bool, also: Sequence[str]) -> list[str]:
    """Each case in words, with those of its other values that differ among the cases."""
    lines = [f"{case_words(case)}{_others(case, also)}" for case in _shown(cases, every)]
    if len(lines) < len(cases):
        lines.insert(ENDS, f"... {len(cases) - len(lines):,} more; --all lists them")
    return lines


def _shown(cases: Sequence[Case], every: bool) -> Sequence[Case]:
    return cases if every or len(cases) <= FEW else [*cases[:ENDS], *cases[-ENDS:]]


def _others(case: Case, also: Sequence[str]) -> str:
    texts = []
    for name in also:
        group, _, key = name.rpartition(".")
        if group != "model_options":  # those are in the model's name
            value = getattr(case, group).get(key) if group else getattr(case, name)
            texts.append("" if value is None else f" {key} {value}")
    return "".join(texts)


def _values(counts: Counter[Any]) -> str:
    shown = [f"{value} ×{number}" for value, number in list(counts.items())[:MOST_VALUES]]
    return ", ".join(shown) + (f", and {len(counts) - MOST_VALUES} more" if len(counts) > MOST_VALUES else "")


def _closing(expansion: Expansion, cases: Sequence[Case], estimator: Estimator) -> list[str]:
    for case in cases:
        estimator.add(case)
    count = "1 case" if len(cases) == 1 else f"{len(cases):,} cases"
    left_out = [
        f"{number:,} {why}" for number, why in ((expansion.excluded, "excluded"), (expansion.repeated, "duplicates")) if number
    ]
    notes = f" ({', '.join(left_out)})" if left_out else ""
    total = estimator.total
    return [f"{count}{notes}", f"about {duration(total.seconds)}: {_ways(total.counts, cases)}"]


def _jobs(site: Site, cases: Sequence[Case]) -> list[str]:
    """The jobs that would be submitted: their requests and how many."""
    groups: Counter[Request] = Counter()
    lacking: Counter[str] = Counter()
    for case in cases:
        try:
            groups[request_of(site, case)] += 1
        except Unsupported as problem:
            lacking[str(problem)] += 1
    rows = []
    for request, number in groups.items():
        parts = chunks(site, number, site.arrays.largest)
        form = "array" if number >= site.arrays.at_least else "job"
        rows.append(
            (
                request_words(request),
                request.store or "-",
                str(number),
                f"{len(parts)} {form}{'s' if len(parts) > 1 else ''}",
                request.time,
            )
        )
    table_ = table((f"on {site.name}", "staged to", "cases", "as", "time limit"), rows)
    return ["", *table_.splitlines(), *(f"{number} unsupported: {why}" for why, number in lacking.items())]


def _ways(counts: dict[str, int], cases: Sequence[Case]) -> str:
    most = max(case.budget.max_seconds for case in cases)
    words = {
        SAME: "estimated from the same case measured before",
        RELATED: "from the same model, backend, phase and device at the nearest measured batch",
        FAILED: "unsupported before, so only the start",
        BUDGET: f"never measured here: the whole budget of at most {most:g} s and {START_SECONDS:g} s to start",
    }
    return "; ".join(f"{counts[how]:,} {text}" for how, text in words.items() if counts[how])


def duration(seconds: float) -> str:
    for unit, length in (("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 1.5 * length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.0f} s"
