"""`python -m steptime.checks.parity_table REPORT.xml`: what pytest's --junitxml kept, as a table of families and backends."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree


@dataclass(frozen=True)
class Cell:
    """How far one backend was from the reference in one family, or why that is not known."""

    distance: float | None = None
    unsupported: str = ""
    wrong: str = ""
    left_out: bool = False

    @property
    def words(self) -> str:
        if self.wrong:
            return "WRONG"
        if self.distance is not None:
            return f"{self.distance:.0e}" if self.distance else "0"
        return "unsupported" if self.unsupported else "not run" if self.left_out else ""


Cells = dict[tuple[str, str], Cell]
"""by family and backend"""


def cells(xml: str) -> Cells:
    table: Cells = {}
    for case in ElementTree.fromstring(xml).iter("testcase"):
        properties = {each.get("name", ""): each.get("value", "") for each in case.iter("property")}
        if "family" in properties:
            key = properties["family"], properties["backend"].partition(":")[0]
            table[key] = _cell(case, json.loads(properties.get("figures", "{}")))
    return table


def _cell(case: ElementTree.Element, figures: dict[str, float | str]) -> Cell:
    failure = next((each for each in (*case.iter("failure"), *case.iter("error"))), None)
    if failure is not None:
        return Cell(wrong=failure.get("message", ""))
    if "unsupported" in figures:
        return Cell(unsupported=str(figures["unsupported"]))
    distances = [float(figures[what]) for what in ("weights", "outputs") if what in figures]
    return Cell(distances[0]) if distances else Cell(left_out=True)


def markdown(table: Cells) -> str:
    """Parameters after training, or outputs of what only infers; what is unsupported is told below, by the operators' names."""
    families, backends = (list(dict.fromkeys(key[i] for key in table)) for i in (0, 1))
    lines = [f"| family | {' | '.join(backends)} |", f"|---|{'---|' * len(backends)}"]
    for family in families:
        lines.append(f"| {family} | {' | '.join(table.get((family, backend), Cell()).words for backend in backends)} |")
    lines.append("")
    for backend in backends:
        reasons: dict[str, list[str]] = {}
        for family in families:
            reason = table.get((family, backend), Cell()).unsupported
            reasons.setdefault(reason, []).append(family)
        lines += [f"- {', '.join(names)}: {reason}" for reason, names in reasons.items() if reason]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(markdown({key: cell for path in sys.argv[1:] for key, cell in cells(Path(path).read_text()).items()}), end="")
