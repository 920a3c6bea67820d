"""The numbers of cases in what a running sweep shows: each case counts once, and what is measured again by itself."""

from steptime.cli.progress import Bars, Display, Lines
from steptime.core.schema import Case, Record

CASES = [Case("mlp", "fake", batch) for batch in (1, 2, 3)]


def show(display: Display, cases: list[Case], status: str = "crash") -> None:
    for case in cases:
        display.case_begins(case)
        display.case_ends(Record("i", status, case, "2026-01-01T00:00:00.000+00:00"))


def places(text: str) -> list[str]:
    return [line.partition("]")[0] + "]" if line.startswith("[") else line for line in text.splitlines()]


def test_lines_never_count_beyond_their_total(capsys):
    lines = Lines(3)
    show(lines, CASES)
    lines.measures_again(1)
    show(lines, CASES[1:2])
    assert places(capsys.readouterr().err) == ["[1/3]", "[2/3]", "[3/3]", "measuring 1 contended case again", "[again 1/1]"]


def test_a_case_that_a_failed_node_lost_keeps_its_number(capsys):
    lines = Lines(3)
    show(lines, CASES[:2], "node_failure")
    show(lines, [CASES[0], CASES[2], CASES[1]])
    assert places(capsys.readouterr().err) == ["[1/3]", "[2/3]", "[1/3]", "[3/3]", "[2/3]"]


def test_bars_count_alike():
    bars = Bars(3)

    def words() -> tuple[str, float, float | None]:
        task = bars._bars.tasks[0]
        return task.description, task.completed, task.total

    show(bars, [CASES[0], *CASES])
    assert words() == ("3 of 3 cases", 3, 3)
    bars.measures_again(2)
    assert words() == ("0 of 2 contended cases again", 0, 2)
    show(bars, CASES[:1])
    assert words() == ("1 of 2 contended cases again", 1, 2)
