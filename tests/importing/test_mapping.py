import json

import pytest

from steptime.core.errors import UsageError
from steptime.importing.mapping import mapped_by
from steptime.importing.recognise import read
from steptime.store.rows import row_of

MAPPING = """
tool = "lab sheet"
[columns]
model = "Network"
replica_batch = "bs"
throughput = "img/s"
batch_time_ms = "seconds"
[constants]
framework = "pytorch"
phase = "training"
devices_per_node = 1
device = "rtx 3090"
[scale]
batch_time_ms = 1000
"""


@pytest.fixture
def mapping(tmp_path):
    def write(text=MAPPING):
        (tmp_path / "m.toml").write_text(text)
        return mapped_by(tmp_path / "m.toml")

    return write


def test_a_table_of_any_shape_is_read_by_a_mapping(tmp_path, mapping):
    (tmp_path / "a.csv").write_text("Network;x\n")
    (tmp_path / "a.csv").write_text('Network,bs,img/s,seconds,comment\nResNet-50,64,"1,280.5",0.05,fast\nVGG16,32,100,0.32,\n')
    outcome = read(tmp_path / "a.csv", mapping())
    assert (outcome.tool, outcome.reason) == ("lab sheet", "")
    rows = [row_of(record) for record in outcome.records]
    assert [(r["model"], r["effective_batch"], r["throughput"], r["batch_time_ms"]) for r in rows] == [
        ("resnet50", 64, 1280.5, 50.0),
        ("vgg16", 32, 100.0, 320.0),
    ]
    assert rows[0]["origin"] == "lab sheet" and rows[0]["device"] == "GeForce RTX 3090" and rows[0]["framework"] == "pytorch"
    assert outcome.records[0].source.raw["Network"] == "ResNet-50" and outcome.records[0].source.line == 2


def test_json_is_reached_into(tmp_path, mapping):
    content = {"results": {"runs": [{"net": {"name": "resnet18"}, "speed": 10.5}]}, "other": []}
    (tmp_path / "a.json").write_text(json.dumps(content))
    text = 'rows = "results.runs"\n[columns]\nmodel = "net.name"\nthroughput = "speed"\n'
    (record,) = read(tmp_path / "a.json", mapping(text)).records
    assert record.case.model == "resnet18" and record.printed.mean_speed == 10.5 and record.origin == "mapping"


@pytest.mark.parametrize(
    ("table", "reason", "line"),
    [
        ("Network,bs,img/s,seconds\na,64,100,0.05\n", "100 x 0.05 = 5, not the batch 64", 2),
        ("Network,bs,img/s,seconds\na,64,1280,0.05\nb,1.5,30,0.05\n", "replica_batch is '1.5', which is no whole number", 3),
        ("Network,bs,img/s,seconds\na,64,fast,0.05\n", "throughput is 'fast', which is no figure", 2),
        ("Network,bs,speed,seconds\na,64,1,0.05\n", "it has no column 'img/s'; it has Network, bs, speed, seconds", 1),
        ("hello\n", "neither a CSV", 0),
        ("Network,bs,img/s,seconds\n", "neither a CSV", 0),
    ],
)
def test_a_table_that_does_not_fit_is_refused_with_its_line(tmp_path, mapping, table, reason, line):
    (tmp_path / "a.csv").write_text(table)
    outcome = read(tmp_path / "a.csv", mapping())
    assert reason in outcome.reason and outcome.line == line and outcome.records == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[columns\n", "is not TOML"),
        ("[columns]\nspeed = 'x'\n", "unknown column in the mapping 'speed'"),
        ("[colums]\nmodel = 'x'\n", "unknown key in the mapping 'colums' (did you mean columns?)"),
        ("tool = 'x'\n", "has no [columns]"),
        ("columns = 3\n", "[columns] in the mapping is a table"),
        ("[columns]\nmodel = 'x'\n[scale]\nthroughput = -1\n", "takes positive numbers"),
    ],
)
def test_a_wrong_mapping_is_told_in_one_line(mapping, text, words):
    with pytest.raises(UsageError) as caught:
        mapping(text)
    assert words in str(caught.value) and "\n" not in str(caught.value)
