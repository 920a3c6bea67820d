"""`steptime show` says all that a record has."""

from dataclasses import replace

from steptime.cli.show import IN_OTHER_LINES, IN_TITLE, sections
from steptime.core.schema import Allocation, Contention, Cost, GpuUse, Printed, Source, Status
from steptime.store.columns import TABLE
from tests.guide.conftest import run


def test_every_column_has_a_line_or_is_part_of_one():
    record = replace(run(100.0), allocation=Allocation("here", "1"))
    names = [name for _, pairs in sections(record) for name, _ in pairs]
    assert [c.name for c in TABLE if c.label not in names and c.name not in (*IN_TITLE, *IN_OTHER_LINES)] == []


def test_figures_of_a_wrong_result_are_shown():
    record = replace(run(100.0), status=Status.WRONG_RESULT, cost=Cost(1, 1, 1, 1.0, limit_share=1.5))
    shown = dict(sections(record))
    assert dict(shown["cost"])["share of the machine's limit"] == "150%"
    assert dict(shown["speed"])["batch time"]


def test_a_speed_has_the_unit_of_its_source_and_the_device_its_one_name():
    source = Source("timm", "a.csv", 3, "0", device="rtx3090", settings={"unit": "tokens/s", "layout": "nhwc"})
    record = replace(run(100.0), summary=None, steps=None, source=source, printed=Printed(mean_speed=128.0, jitter=2.0))
    shown = {title: dict(pairs) for title, pairs in sections(record)}
    assert shown["speed, as printed"]["mean speed"] == "128 tokens/s"
    assert shown["speed, as printed"]["jitter of throughput"] == "2 tokens/s"
    assert shown["hardware"]["device"] == "GeForce RTX 3090" and shown["imported from"]["device"] == "rtx3090"
    assert shown["configuration"]["layout"] == "nhwc"


def test_the_gpu_is_described_as_far_as_its_driver_reports_it():
    busy = GpuUse(
        "T4", "GPU-1", "550.54", 1005.0, 900.0, 1590.0, throttled={"heat": 0.4, "power cap": 0.0}, watts=69.6, watts_limit=70.0
    )
    record = replace(run(100.0), contention=Contention("contended", "hot", 1.0, 1.0, 0.1, 0, gpu=busy))
    lines = dict(dict(sections(record))["contention"])
    assert (lines["GPU"], lines["GPU clock"], lines["GPU power"]) == (
        "T4, driver 550.54",
        "1005 of 1590 MHz, at least 900",
        "70 of 70 W",
    )
    assert (lines["GPU clock lowered"], lines["GPU ECC"], lines["others on the GPU"]) == ("heat 40%", "", "")


def test_an_older_record_has_no_lines_of_a_gpu():
    record = replace(run(100.0), contention=Contention("clean", "", 1.0, 1.0, 0.1, 0))
    assert not [name for name, _ in dict(sections(record))["contention"] if "GPU" in name]
