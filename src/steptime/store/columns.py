"""Every column of a record, once: what it is called, where it is in a record, how it is stored, and what it is good for; and
the flat row that they make.

Rows, the index, its roll-up, look-up, export, `list`, `show`, and the dimensions and measures of the guide and of its page are
made from TABLE. A new figure is a field in `core/schema` and a line here.

A column of the configuration says what was run, and is read from `case`, `software` and `machine`, which many records share; what
else its function reads of a record is named in `depends`. A column of the run is the path of a field: these are read by the
hundred thousand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

from steptime.core.schema import FAILURES, PHASES, PRECISIONS, SETTINGS, VERDICTS, Case, Phase, Record, Status
from steptime.store.devices import Device, device_named

Row = dict[str, Any]
TEXT, COUNT, BYTES, FIGURE = "VARCHAR", "INTEGER", "BIGINT", "DOUBLE"
LABELS = "labels"
STATUSES = (Status.OK, *FAILURES)


@dataclass(frozen=True)
class Column:
    name: str
    label: str
    read: str | Callable[[Record], Any]
    """the path of a field (`summary.mean_seconds`), or a function of the record"""
    sql: str = TEXT
    per_run: bool = True
    """whether runs of the same case may differ in it"""
    configures: bool = False
    """whether two runs that differ in it are different configurations, rather than the same one run twice"""
    dimension: bool = False
    """whether results are filtered and grouped by it"""
    depends: tuple[str, ...] = ()
    """what a column of the configuration reads of a record besides case, software and machine"""
    blank: bool = True
    """whether an empty text or 0 is a value; else it means that the record does not say"""
    absent: str | None = None
    """what a row has where the record lacks the part with the field"""
    order: tuple[str, ...] = ()
    """values in the order in which people expect them; others follow in natural order"""
    measured: bool = False
    """whether only a case that went well has it"""
    printed: str = ""
    """for what is measured: the field of `printed` that takes its place in records that have one"""
    scale: float = 1.0
    """from the unit of the field to that of the column"""
    unit: str = ""
    better: str = ""
    """higher | lower, of a measure; empty: it is none"""
    form: str = "number"
    """number | percent | bytes | ratio: how to write it"""
    interval: bool = False
    """whether single runs have a confidence interval of it"""
    heading: str = ""
    """what a narrow table calls it, where that is not the label"""
    implied: bool = False
    """whether other dimensions say the same: it is offered as a filter only on request"""
    section: str = ""
    """configuration | software | hardware, of a column of the configuration: what it describes"""

    @property
    def kind(self) -> str:
        """text | number"""
        return "text" if self.sql == TEXT else "number"

    @property
    def is_measure(self) -> bool:
        return bool(self.better)

    @property
    def title(self) -> str:
        return self.heading or self.label

    def of(self, record: Any) -> Any:
        """The column's value in a row; None is what a failed case has no figure for, and what a record does not say."""
        if self.measured:
            return self._figure(record)
        value = self.read(record) if callable(self.read) else field_at(record, self.read)
        if value is None:
            return self.absent
        return value if value or self.blank else None

    def _figure(self, record: Any) -> float | None:
        path = f"printed.{self.printed}" if record.printed and self.printed else self.read
        if record.status != Status.OK or (record.printed and not self.printed):
            return None
        assert isinstance(path, str)
        value: float | None = field_at(record, path)
        return value if value is None or self.scale == 1.0 else value * self.scale


@cache
def _names_in(path: str) -> list[str]:
    return path.split(".")


def field_at(record: Any, path: str) -> Any:
    """The field at the end of a path; None where a part on the way is missing."""
    for name in _names_in(path):
        if record is None:
            return None
        record = getattr(record, name)
    return record


def model_name(case: Case) -> str:
    """With the options that differ from the model's own, since another width is another model."""
    options = ",".join(f"{key}={value}" for key, value in sorted(case.model_options.items()))
    return f"{case.model}({options})" if options else case.model


def case_words(case: Case) -> str:
    several = f" on {case.replicas} {case.device}" if case.replicas > 1 or case.device != "cpu" else ""
    return f"{model_name(case)} {case.phase} {case.backend} {case.precision} batch {case.batch}{several}"


def _framework(record: Record) -> str:
    return record.software.framework if record.software else record.case.backend


def _framework_version(record: Record) -> str:
    return record.software.framework_version if record.software else ""


def _software(record: Record) -> str:
    return f"{_framework(record)} {_framework_version(record)}".strip() if record.software else record.case.backend


def _runtime(record: Record) -> str:
    return record.source.runtime if record.source else record.machine.runtime if record.machine else ""


def _data(record: Record) -> str:
    return "real" if record.case.data not in ("synthetic", "") else record.case.data


def _server(record: Record) -> str:
    return record.source.server if record.source else record.machine.host if record.machine else ""


def _system(record: Record) -> str:
    """Where a scheduler chooses the nodes, a node is no system of its own."""
    if record.allocation:
        return f"{record.allocation.site} {record.allocation.partition}".strip()
    return _server(record)


def _device(record: Record) -> Device:
    """Under one name, however the record or its source spells it."""
    machine = record.machine
    if record.source:
        return device_named(record.source.device or record.case.device)
    on_cpu = _ran_on(record) == "cpu"
    if on_cpu or not machine or not machine.accelerators:
        return device_named(machine.cpu if machine and on_cpu else record.case.device)
    return device_named(_gpu_name(machine.accelerators[0].name))


@lru_cache(maxsize=256)
def _gpu_name(raw: str) -> str:
    """In the spelling of imported records, for devices that the table of devices lacks."""
    from steptime.store.names import device

    return device(raw)[0] or raw


def _about_device(field: str) -> Callable[[Record], Any]:
    return lambda record: getattr(_device(record), field)


def _setting(name: str) -> Callable[[Record], str]:
    """What changes the work beside the case: told by an import's source, or by our own backend."""

    def read(record: Record) -> str:
        if record.source:
            return record.source.settings.get(name, "")
        return record.software.settings.get(name, "").lower() if record.software else ""

    return read


def _image_size(record: Record) -> str:
    if record.source:
        return record.source.settings.get("image_size", "")
    return str(record.case.model_options.get("image", "")) or _default_image(record.case.model)


@lru_cache(maxsize=256)
def _default_image(model: str) -> str:
    from steptime.core.models.zoo import models

    return str(models()[model].options.get("image", "")) if model in models() else ""


def _unit(record: Record) -> str:
    return (record.source.settings.get("unit") if record.source else "") or "samples/s"


def _variant(record: Record) -> str:
    """Settings without a column of their own, and options of our own backends."""
    settings = record.source.settings if record.source else record.case.backend_options
    return ",".join(f"{name}={value}" for name, value in sorted(settings.items()) if name not in SETTINGS)


def _ran_on(record: Record) -> str:
    """cpu or cuda: on a site the case names a device type, and the allocation says what that was to the framework."""
    return (record.allocation and record.allocation.ran_on) or record.case.device


def _device_type(record: Record) -> str | None:
    return {"cpu": "cpu", "tpu": "tpu", "": None}.get(_ran_on(record).partition(":")[0], "gpu")


def _interconnect(record: Record) -> str:
    return record.source.interconnect if record.source else ""


def _effective_batch(record: Record) -> int | None:
    return record.case.effective_batch or (record.printed.effective_batch if record.printed else None)


def _own(field: str) -> Callable[[Record], Any]:
    """A field of our own cases; imported ones do not say it."""
    return lambda record: None if record.source else getattr(record.case, field)


def _optimizer(record: Record) -> str:
    return record.case.optimizer if record.case.phase == Phase.TRAINING else ""


def speed_and_time(speed: float | None, seconds: float | None, batch: int | None) -> tuple[float | None, float | None]:
    """Two words for one figure where the batch is known, so that either axis shows all records that printed one of them."""
    if batch and speed and seconds is None:
        return speed, batch / speed
    if batch and seconds and speed is None:
        return batch / seconds, seconds
    return speed, seconds


def _run(name: str, label: str, read: str, **more: Any) -> Column:
    return Column(name, label, read, **more)


def _what(name: str, label: str, read: str | Callable[[Record], Any], **more: Any) -> Column:
    """A column of the configuration."""
    return Column(name, label, read, **{"section": "configuration", **more}, per_run=False, configures=True, dimension=True)


def _software_column(name: str, label: str, read: Callable[[Record], Any], **more: Any) -> Column:
    return _what(name, label, read, section="software", **more)


def _hardware_column(name: str, label: str, read: Callable[[Record], Any], **more: Any) -> Column:
    return _what(name, label, read, section="hardware", **more)


def _figure(name: str, label: str, unit: str, better: str, read: str, printed: str = "", **more: Any) -> Column:
    return Column(name, label, read, **{"sql": FIGURE, "measured": True, **more}, unit=unit, better=better, printed=printed)


def _milliseconds(name: str, label: str, better: str, field: str, **more: Any) -> Column:
    return _figure(name, label, "ms", better, f"summary.{field}", field, scale=1e3, **more)


_DEVICE = ("source.device", "allocation.ran_on")
_SETTINGS = ("source.settings",)

TABLE = (
    _run("id", "id", "id"),
    _what("phase", "phase", "case.phase", blank=False, order=PHASES),
    _what("model", "model", lambda record: model_name(record.case)),
    _software_column("framework", "framework", _framework),
    _software_column("framework_version", "framework version", _framework_version),
    _what("backend", "backend", "case.backend"),
    _software_column("software", "software", _software, implied=True),
    _software_column("runtime", "runtime", _runtime, depends=("source.runtime",)),
    _what("precision", "precision", "case.precision", blank=False, order=PRECISIONS),
    _what("data", "data", _data, blank=False, order=("synthetic", "real"), implied=True),
    _what("data_store", "data store", "case.data_store", blank=False, implied=True),
    _hardware_column("server", "server", _server, depends=("source.server",)),
    _hardware_column(
        "system", "system", _system, depends=("source.server", "allocation.site", "allocation.partition"), implied=True
    ),
    _hardware_column("device", "device", _about_device("name"), depends=_DEVICE),
    _hardware_column("device_type", "device type", _device_type, depends=("allocation.ran_on",), order=("cpu", "gpu")),
    _what("devices_per_node", "devices per node", "case.devices", sql=COUNT, blank=False),
    _what("nodes", "nodes", "case.nodes", sql=COUNT, blank=False),
    _hardware_column("interconnect", "interconnect", _interconnect, depends=("source.interconnect",)),
    _what("replicas", "number of devices", "case.replicas", sql=COUNT, blank=False, heading="devices"),
    _what("replica_batch", "replica batch size", "case.batch", sql=COUNT, blank=False, heading="batch", implied=True),
    _what(
        "effective_batch", "effective batch size", _effective_batch,
        sql=COUNT, blank=False, depends=("printed.effective_batch",), heading="batch", implied=True,
    ),
    _what("threads", "threads", "case.threads", sql=COUNT, blank=False),
    _what("optimizer", "optimizer", _optimizer),
    _what("image_size", "image size", _image_size, depends=_SETTINGS, blank=False),
    _what("compile", "compile mode", _setting("compile"), depends=_SETTINGS, blank=False),
    _what("layout", "layout", _setting("layout"), depends=_SETTINGS, blank=False),
    _what("augmentation", "augmentation", _setting("augmentation"), depends=_SETTINGS, blank=False),
    _what("part", "part of the work", _setting("part"), depends=_SETTINGS, blank=False),
    _what("unit", "unit of throughput", _unit, depends=_SETTINGS),
    _what("variant", "variant", _variant, depends=_SETTINGS, blank=False),
    _hardware_column("vendor", "vendor", _about_device("vendor"), depends=_DEVICE, blank=False),
    _hardware_column("architecture", "architecture", _about_device("architecture"), depends=_DEVICE, blank=False),
    _hardware_column("device_memory_gb", "memory of a device", _about_device("memory_gb"), sql=COUNT, depends=_DEVICE, unit="GB"),
    _hardware_column("device_year", "year of a device", _about_device("year"), sql=COUNT, depends=_DEVICE),
    _milliseconds("batch_time_ms", "batch time", "lower", "mean_seconds", interval=True, heading="ms/step"),
    _figure(
        "throughput", "throughput", "samples/s", "higher", "summary.mean_speed", "mean_speed", interval=True, heading="samples/s"
    ),
    _figure("uncertainty", "uncertainty of throughput", "samples/s", "lower", "summary.uncertainty", "uncertainty"),
    _figure("jitter", "jitter of throughput", "samples/s", "lower", "summary.jitter", "jitter", heading="jitter"),
    _figure("ci_low", "lower end of the interval of throughput", "samples/s", "", "summary.ci_low", heading="± 95%"),
    _figure("ci_high", "upper end of the interval of throughput", "samples/s", "", "summary.ci_high"),
    _milliseconds("p50_ms", "median batch time", "lower", "p50_seconds"),
    _milliseconds("p90_ms", "90th percentile of batch time", "lower", "p90_seconds"),
    _milliseconds("p95_ms", "95th percentile of batch time", "lower", "p95_seconds"),
    _milliseconds("p99_ms", "99th percentile of batch time", "lower", "p99_seconds"),
    _figure("limit_share", "share of the machine's limit", "", "higher", "cost.limit_share", form="percent", heading="of limit"),
    _figure(
        "peak_bytes", "peak memory", "bytes", "lower", "resources.peak_bytes", "peak_bytes",
        sql=BYTES, form="bytes", heading="memory",
    ),
    _run("status", "status", "status", dimension=True, order=STATUSES),
    _run("verdict", "verdict", "contention.verdict", absent="", dimension=True, order=VERDICTS),
    _what("origin", "origin", "origin", depends=("origin",)),
    Column(LABELS, "labels", "case.labels", per_run=False, configures=True, section="configuration"),
    _run("started", "started", "started", blank=False),
    _run("sweep", "sweep", "sweep", dimension=True),
    _run("message", "message", "message"),
    _run("job", "job", "allocation.job"),
    _run("partition", "partition", "allocation.partition"),
    Column("device_asked", "device that was asked for", "case.device", per_run=False, section="configuration"),
    Column("seed", "seed", _own("seed"), sql=COUNT, per_run=False, depends=("origin",), section="configuration"),
    Column("repeat", "repeat", _own("repeat"), sql=COUNT, per_run=False, depends=("origin",), section="configuration"),
    _figure("queue_seconds", "time in the queue", "s", "", "allocation.queue_seconds", measured=False),
    _figure("staging_seconds", "time of staging data", "s", "", "staging.seconds", measured=False),
)  # fmt: skip
"""in the order in which rows and exports have them"""

COLUMNS = {column.name: column for column in TABLE}
NAMES = tuple(COLUMNS)
CONFIGURATION = tuple(c for c in TABLE if not c.per_run)
"""read once for each case that differs"""
CONFIGURING = tuple(c.name for c in CONFIGURATION if c.configures and c.name != LABELS)
"""what says what was run; with the labels they make a configuration"""
RUN_TEXTS = tuple(c for c in TABLE if c.per_run and c.sql == TEXT)
FIGURES = tuple(c for c in TABLE if c.per_run and c.sql != TEXT)
MEASURES = tuple(c.name for c in TABLE if c.is_measure)
EXACT = tuple(c.name for c in TABLE if c.sql != FIGURE and c.name != LABELS)
"""columns whose text is the same in the database as in Python: words and whole numbers"""


def row_of(record: Record) -> Row:
    """Flat; what a failed case has no figure for, and what an imported one does not say, is None, never 0."""
    printed = record.printed
    if printed and record.status == Status.OK:
        batch = COLUMNS["effective_batch"].of(record)
        speed, seconds = speed_and_time(printed.mean_speed, printed.mean_seconds, batch)
        record = replace(record, printed=replace(printed, mean_speed=speed, mean_seconds=seconds))
    return {column.name: column.of(record) for column in TABLE}


def full_row(record: Record) -> Row:
    """The row, and beside it the raw steps and the figures that belong to one record only."""
    row = row_of(record)
    steps = record.steps
    return row | {
        "mean_speed": row["throughput"],
        "ci": [row["ci_low"], row["ci_high"]] if row["ci_low"] is not None else None,
        "flops_per_step": record.cost.flops_per_step if record.cost else None,
        "steps": steps.seconds if steps else [],
        "steady_start": steps.steady_start if steps else None,
        "stopped_by": steps.stopped_by if steps else None,
    }
