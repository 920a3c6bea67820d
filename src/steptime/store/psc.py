"""The table and the result files of the PSC Deep MNIST project: one row, or one file, for each measured case."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter

from steptime.core.schema import TRUST, Status, Verdict
from steptime.store.columns import CONFIGURATION, LABELS, Row

COLUMNS: dict[str, Callable[[Row], object]] = {
    "mean_speed": itemgetter("throughput"),
    "Mean_Time_Per_Step": lambda row: row["batch_time_ms"] / 1e3,
    "speed_uncertainty": itemgetter("uncertainty"),
    "Speed_Jitter": itemgetter("jitter"),
    "gpu_type": lambda row: gpu_type(row),
    "num_gpu": itemgetter("replicas"),
    "staged_from": lambda row: staged_from(row),
}
"""the project's own"""
TELLING = ("gpu_type", "num_gpu", "staged_from")
"""those of them that say what was measured"""
FURTHER: dict[str, Callable[[Row], object]] = {
    **{name: itemgetter(name) for name in ("model", "phase", "software", "precision")},
    "batch": itemgetter("replica_batch"),
    **{name: itemgetter(name) for name in ("threads", "optimizer", "variant", "seed", "repeat")},
    "server": lambda row: _server(row),
    "verdict": itemgetter("verdict"),
}
"""those that tell rows apart; the table has the ones in which its rows differ"""


def measured_cases(rows: Iterable[Row], contended: bool = False) -> list[Row]:
    """For each case the row that counts: the least disturbed, and of equals the newest; with `contended`, those tries as well.

    An imported record is a case by itself, since nothing says which records repeat each other.
    """
    complete = [row for row in rows if _is_complete(row)]
    best: dict[object, Row] = {}
    for row in complete:
        key = _case(row)
        if row["verdict"] != Verdict.CONTENDED and (key not in best or _trust(row) <= _trust(best[key])):
            best[key] = row
    counted = {row["id"] for row in best.values()}
    return [row for row in complete if row["id"] in counted or (contended and row["verdict"] == Verdict.CONTENDED)]


def only_contended(rows: Sequence[Row]) -> int:
    """How many cases have no row because all their tries were contended."""
    every = {_case(row) for row in rows if _is_complete(row)}
    return len(every - {_case(row) for row in measured_cases(rows)})


def _is_complete(row: Row) -> bool:
    """Measured, with all four figures; what other tools printed may lack some."""
    needed = ("throughput", "batch_time_ms", "uncertainty", "jitter", "data_store")
    return row["status"] == Status.OK and all(row[column] is not None for column in needed)


def _trust(row: Row) -> int:
    return TRUST.get(row["verdict"], len(TRUST))


def _case(row: Row) -> object:
    if row["seed"] is None:
        return row["id"]
    others = [row[column.name] for column in CONFIGURATION if column.name not in ("server", LABELS)]
    return _server(row), *others, *sorted(row[LABELS].items())


def _server(row: Row) -> str:
    """Which node of a cluster ran a case is chance."""
    return "" if row["job"] else str(row["server"])


def psc_table(rows: Sequence[Row], contended: bool = False) -> tuple[list[str], list[list[object]]]:
    """Its header and its lines: the project's seven columns, and further ones where they are needed to tell rows apart."""
    cases = measured_cases(rows, contended)
    columns = COLUMNS | {name: read for name, read in FURTHER.items() if len({read(row) for row in cases}) > 1}
    telling = [read for name, read in columns.items() if name in FURTHER or name in TELLING]
    if len({tuple(read(row) for read in telling) for row in cases}) < len(cases):
        columns |= {"id": itemgetter("id")}
    return list(columns), [[read(row) for read in columns.values()] for row in cases]


def psc_files(rows: Sequence[Row], contended: bool = False) -> dict[str, str]:
    """The files of that project, one per measured case: YYYY-MM-DD-<type>:<count>:<staged>, numbered where they would clash."""
    files: dict[str, str] = {}
    for row in measured_cases(rows, contended):
        name = f"{(row['started'] or '')[:10]}-{gpu_type(row)}:{row['replicas']}:{row['data_store']}".replace("/", "_")
        same = sum(known == name or known.startswith(f"{name}:") for known in files)
        files[f"{name}:{same + 1}" if same else name] = _file_text(row)
    return files


def _file_text(row: Row) -> str:
    repeat = "" if row["seed"] is None else f"seed {row['seed']}, repeat {row['repeat']}, "
    disturbed = f", {row['verdict']}" if row["verdict"] == Verdict.CONTENDED else ""
    return (
        f"{row['model']} {row['phase']}, batch {row['effective_batch']}, {row['software']}, {repeat}"
        f"job {row['job'] or '-'}{disturbed}\n"
        f"Mean Time Per Step : {row['batch_time_ms'] / 1e3:.9g}\n"
        f"Mean Speed : {row['throughput']:.9g}\n"
        f"speed uncertainty : {row['uncertainty']:.9g}\n"
        f"Speed Jitter : {row['jitter']:.9g}\n"
    )


def gpu_type(row: Row) -> str:
    """What was asked of a cluster by name; else the device."""
    return str(row["device_asked"] if row["job"] else row["device"])


def staged_from(row: Row) -> str:
    """Directories as that project writes them: $SCRATCH, $LOCAL."""
    return str(row["data_store"]) if row["data"] == "synthetic" else f"${str(row['data_store']).upper()}"
