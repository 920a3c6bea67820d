"""Every type that crosses a process or reaches disk, and its JSON.

Frozen dataclasses that do nothing by themselves. The worker reads and writes them with the standard
library (`to_json`, `from_json`); the tool decodes and validates them with msgspec, from these same classes.

    case.py      what is measured           machine.py   where it ran
    record.py    the outcome                profile.py   where its time went
    enums.py     the closed sets of words
"""

from steptime.core.schema.case import (
    OPTIMIZERS,
    SCHEMA_VERSION,
    Budget,
    Case,
    Job,
    Option,
    ProbeResult,
    case_key,
    option_value,
)
from steptime.core.schema.encoding import from_json, timestamp, to_json
from steptime.core.schema.enums import (
    FAILURES,
    PHASES,
    PRECISIONS,
    TRUST,
    VERDICTS,
    Change,
    ComparisonVerdict,
    JobKind,
    Phase,
    Precision,
    Status,
    StopReason,
    Throttle,
    Verdict,
)
from steptime.core.schema.machine import Accelerator, Machine, Software
from steptime.core.schema.profile import Profile, ProfileEntry
from steptime.core.schema.record import (
    SETTINGS,
    Allocation,
    Contention,
    Cost,
    Failure,
    FailureCause,
    GpuUse,
    Printed,
    Record,
    Resources,
    Source,
    Staging,
    Steps,
    Summary,
)

__all__ = [
    "FAILURES",
    "OPTIMIZERS",
    "PHASES",
    "PRECISIONS",
    "SCHEMA_VERSION",
    "SETTINGS",
    "TRUST",
    "VERDICTS",
    "Accelerator",
    "Allocation",
    "Budget",
    "Case",
    "Change",
    "ComparisonVerdict",
    "Contention",
    "Cost",
    "Failure",
    "FailureCause",
    "GpuUse",
    "Job",
    "JobKind",
    "Machine",
    "Option",
    "Phase",
    "Precision",
    "Printed",
    "ProbeResult",
    "Profile",
    "ProfileEntry",
    "Record",
    "Resources",
    "Software",
    "Source",
    "Staging",
    "Status",
    "Steps",
    "StopReason",
    "Summary",
    "Throttle",
    "Verdict",
    "case_key",
    "from_json",
    "option_value",
    "timestamp",
    "to_json",
]
