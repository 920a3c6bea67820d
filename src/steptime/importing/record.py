"""From an importer's entry to an ordinary record: names are translated, the origin is kept, nothing is added."""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from steptime.core.schema import (
    Case,
    Failure,
    Phase,
    Precision,
    Printed,
    Profile,
    Record,
    Software,
    Source,
    Status,
    Steps,
    StopReason,
    Summary,
)
from steptime.core.stats.invariants import broken_invariant
from steptime.core.stats.summary import summarise
from steptime.importing.source_file import Entry, File, Refused
from steptime.store import names

MAX_COUNT = 10**9
MAX_TEXT = 400


def record_of(tool: str, file: File, entry: Entry) -> Record:
    """Refused, with the arithmetic, if the record would break an invariant."""
    _check_counts(entry)
    tool = entry.tool or tool
    case = _case(entry)
    device, kind = names.device(entry.device)
    framework, version = names.framework(entry.framework)
    summary, printed = _figures(entry, case)
    failed = entry.status != Status.OK
    source = Source(
        tool=tool,
        file=_text(file.name),
        line=entry.line,
        sha256=file.sha256,
        server=_text(entry.server),
        device=_text(device) or (kind or entry.device_kind).upper(),
        interconnect=_text(entry.interconnect),
        runtime=_text(entry.runtime),
        raw=_original_words(entry, case, device, framework),
        notes=[_text(note) for note in entry.notes],
        settings={_text(key): _text(value) for key, value in sorted(entry.settings.items()) if value},
    )
    record = Record(
        id=_identity(entry, source, case),
        status=Status(entry.status),
        case=case,
        started=started(entry.started),
        message=_text(entry.message),
        origin=tool,
        steps=Steps(entry.steps, 0, "all, as the tool counts", StopReason.STEPS) if entry.steps and not failed else None,
        summary=summary,
        software=Software("", "", framework, _text(entry.version) or version, "") if framework else None,
        failure=Failure(log_tail=_clean(entry.log_tail)[-2000:]) if failed else None,
        first_loss=_finite(entry.first_loss),
        last_loss=_finite(entry.last_loss),
        printed=printed,
        source=source,
        profile=_profile(entry.profile),
    )
    broken = broken_invariant(record)
    if broken:
        raise Refused(broken, entry.line)
    return record


def _profile(profile: Profile | None) -> Profile | None:
    """With names that every JSON and every terminal can take."""
    return profile and replace(profile, entries=[replace(e, name=_text(e.name)) for e in profile.entries])


def _case(entry: Entry) -> Case:
    _, kind = names.device(entry.device)
    return Case(
        model=_text(names.model(entry.model)),
        backend=_text(names.framework(entry.framework)[0]),
        batch=entry.batch,
        phase=Phase(names.phase(entry.phase)),
        precision=Precision(names.precision(entry.precision)),
        device=entry.device_kind or kind,
        devices=entry.devices,
        nodes=entry.nodes,
        threads=entry.threads,
        optimizer=_text(names.optimizer(entry.optimizer)),
        learning_rate=0.0,
        data=_text(entry.data),
        data_store=_text(entry.data_store) or ("dram" if entry.data == "synthetic" else ""),
        model_options={_text(key): _clean(v) if isinstance(v, str) else v for key, v in entry.model_options.items()},
        labels={_text(key): _text(value) for key, value in entry.labels.items()},
    )


def _figures(entry: Entry, case: Case) -> tuple[Summary | None, Printed | None]:
    """Raw steps of a known batch make a summary like our own; everything else is kept as printed."""
    if entry.status != Status.OK:
        return None, None
    _check_figures(entry)
    if entry.steps and case.effective_batch and not entry.others and entry.peak_bytes is None:
        return summarise(entry.steps, case.effective_batch), None
    seconds, percentiles, low, high, n = entry.seconds, dict(entry.percentiles), entry.min_seconds, entry.max_seconds, entry.n
    if entry.steps:
        times = np.asarray(entry.steps, dtype=np.float64)
        percentiles = {p: float(np.percentile(times, p)) for p in (50, 90, 95, 99)}
        seconds, low, high, n = float(times.mean()), float(times.min()), float(times.max()), len(times)
    printed = Printed(
        mean_seconds=seconds,
        mean_speed=entry.speed,
        uncertainty=entry.uncertainty,
        jitter=entry.jitter,
        n=n,
        p50_seconds=percentiles.get(50),
        p90_seconds=percentiles.get(90),
        p95_seconds=percentiles.get(95),
        p99_seconds=percentiles.get(99),
        min_seconds=low,
        max_seconds=high,
        peak_bytes=entry.peak_bytes,
        effective_batch=None if case.effective_batch else entry.global_batch or None,
        rounding=entry.rounding,
        others={_text(key): value for key, value in entry.others.items()},
    )
    return None, printed


def _check_counts(entry: Entry) -> None:
    for name in ("batch", "global_batch", "devices", "nodes", "threads", "n", "peak_bytes"):
        value = getattr(entry, name)
        limit = 1 << 50 if name == "peak_bytes" else MAX_COUNT
        if value is not None and not 0 <= value <= limit:
            raise Refused(f"{name} is {value}", entry.line)
    if entry.batch * max(entry.devices, 1) * max(entry.nodes, 1) > MAX_COUNT:
        raise Refused(f"batch {entry.batch} on {entry.devices} devices of {entry.nodes} nodes", entry.line)


def _check_figures(entry: Entry) -> None:
    """Before any arithmetic is done with them."""
    for value in entry.steps:
        if not (math.isfinite(value) and value > 0):
            raise Refused(f"a step took {value} s", entry.line)
    if entry.steps and not 1e-12 < min(entry.steps) <= max(entry.steps) < 1e9:
        raise Refused(f"steps took {min(entry.steps):g} to {max(entry.steps):g} s", entry.line)


def _original_words(entry: Entry, case: Case, device: str, framework: str) -> dict[str, str]:
    """The source's words wherever ours differ, and those that have no field."""
    pairs = {
        "model": (entry.model, case.model),
        "device": (entry.device, device),
        "precision": (entry.precision, case.precision),
        "framework": (entry.framework, framework),
        "phase": (entry.phase, case.phase),
        "optimizer": (entry.optimizer, case.optimizer),
    }
    translated = {key: _text(theirs) for key, (theirs, ours) in pairs.items() if theirs and theirs != ours}
    return translated | {_text(key): _text(value) for key, value in entry.raw.items() if value}


def _identity(entry: Entry, source: Source, case: Case) -> str:
    """The same for the same file in any folder; different where its path says something else."""
    place = (entry.same_as,) if entry.same_as else (source.sha256, str(source.line))
    settings = (repr(source.settings),) if source.settings else ()
    parts = (source.tool, *place, repr(case), source.device, source.server, entry.status, *settings)
    return "import-" + hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def started(text: str) -> str:
    """UTC, ISO 8601, from what tools print; empty if that is no time. Times without a zone are taken as UTC."""
    text = text.strip()
    if re.fullmatch(r"\d{9,10}(\.\d+)?", text):
        return datetime.fromtimestamp(float(text), UTC).isoformat(timespec="seconds")
    try:
        when = datetime.fromisoformat(text.replace("/", "-"))
    except ValueError:
        return ""
    if not 1990 <= when.year <= 2200:
        return ""
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).astimezone(UTC).isoformat(timespec="seconds")


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def one_line(text: str) -> str:
    """On one line, whatever the file had in it."""
    return " ".join(_clean(text[:MAX_TEXT]).split())


def _text(text: str) -> str:
    return _clean(text)[:MAX_TEXT].strip()


def _clean(text: str) -> str:
    """Without control characters and halves of characters, which no JSON and no terminal should get."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", " ", text.encode("utf-8", "replace").decode("utf-8"))
