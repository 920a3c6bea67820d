"""Processors by one name each, with vendor, architecture, memory and year: `devices.csv` is the table.

Records keep the name that their source gave; rows show the one of the table, so that it can grow without touching a record.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources

MAX = 200
"""characters of a name; what is longer is none"""


@dataclass(frozen=True)
class Device:
    """Empty and None: not known."""

    name: str
    vendor: str = ""
    architecture: str = ""
    memory_gb: int | None = None
    year: int | None = None


NOISE = re.compile(
    r"\((?:r|tm)\)|\b(?:nvidia|amd|intel|google|corporation|cpu|processor|graphics card:?)\b|\b\d+-core\b|@.*", re.IGNORECASE
)
"""words that some write and others do not; a clock at the end"""
SERIES = re.compile(r"(?i)^(?:geforce (?:gtx |rtx )?|tesla |quadro |radeon )")
"""what many leave out: `1080 Ti` for `GeForce GTX 1080 Ti`"""
VENDORS = (
    ("NVIDIA", r"nvidia|geforce|tesla|quadro|titan|\b(?:g|r)tx\b"),
    ("AMD", r"\bamd\b|radeon|instinct|epyc|ryzen|threadripper|vega|firepro"),
    ("Intel", r"intel|xeon|\bi[3579]-\d|\bcore i\d"),
    ("Google", r"\btpu"),
    ("Apple", r"\bapple\b"),
    ("Arm", r"\barm\b|cortex|neoverse|graviton"),
)
"""of devices that the table lacks, by words in their name"""


@lru_cache(maxsize=4096)
def device_named(name: str) -> Device:
    """By any spelling. A device that the table lacks keeps its name; what that name tells is known of it."""
    listed = _listed(name) if len(name) <= MAX else None
    if listed:
        return listed
    vendor = next((vendor for vendor, words in VENDORS if re.search(words, name[:MAX].lower())), "")
    memory = re.search(r"(?i)\b(\d{1,3}) ?GB\b", name[:MAX])
    return Device(name, vendor, memory_gb=int(memory.group(1)) if memory and vendor else None)


def _listed(name: str) -> Device | None:
    return _by_name().get(name) or _by_key().get(_key(name)) or _by_key().get(_key(_without_brand(name)))


def _without_brand(name: str) -> str:
    return re.sub(r"(?i)^(?:nvidia )?geforce ", "", name)


@cache
def _by_name() -> dict[str, Device]:
    """As the table writes them. NVIDIA's driver calls the Pascal card TITAN X, and people the Maxwell card Titan X."""
    rows = list(csv.DictReader(device_table().splitlines()))
    names = {row["name"]: _device(row) for row in rows}
    aliases = {alias: names[row["name"]] for row in rows for alias in row["aliases"].split("|") if alias}
    return names | {alias: device for alias, device in aliases.items() if alias not in names}


@cache
def _by_key() -> dict[str, Device]:
    """In any spelling. Whole names and aliases count before names without their series."""
    found: dict[str, Device] = {}
    for name, device in _by_name().items():
        found.setdefault(_key(name), device)
    for name, device in _by_name().items():
        for short in (SERIES.sub("", name), _without_brand(name)):
            found.setdefault(_key(short), device)
    return found


def device_table() -> str:
    """The text of the table."""
    return resources.files(__package__).joinpath("devices.csv").read_text(encoding="utf-8")


def _device(row: dict[str, str]) -> Device:
    memory, year = row["memory_gb"], row["year"]
    return Device(row["name"], row["vendor"], row["architecture"], int(memory) if memory else None, int(year) if year else None)


def _key(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "", NOISE.sub(" ", name).lower())
