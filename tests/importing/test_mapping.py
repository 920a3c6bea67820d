import json

import pytest

from steptime.core.errors import UsageError
from steptime.importing.guess_mapping import guess_mapping
from steptime.importing.mapping import read_mapping
from steptime.importing.recognise import read
from steptime.importing.source_file import File
from steptime.store.columns import row_of
from steptime.store.export import csv_text
from tests.importing.samples import FILES

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
        return read_mapping(tmp_path / "m.toml")

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


SPEED = '[columns]\nmodel = "net.name"\nthroughput = "speed"\n'


def models_and_speeds(outcome):
    return [(record.case.model, record.printed.mean_speed) for record in outcome.records]


@pytest.mark.parametrize(
    "content",
    [
        '{"net": {"name": "resnet18"}, "speed": 10.5}',
        '{\n  "net": {"name": "resnet18"},\n  "speed": 10.5,\n  "losses": [{"step": 1}, {"step": 2}]\n}',
        '[{"net": {"name": "resnet18"}, "speed": 10.5}]',
        '{"net": {"name": "resnet18"}, "runs": [{"speed": 10.5}]}',
        '{"net.name": "resnet18", "speed": 10.5}',
    ],
    ids=["object", "object with a list", "list", "list in an object", "name with a dot"],
)
def test_json_of_one_result_is_read_however_it_is_wrapped(tmp_path, mapping, content):
    (tmp_path / "a.json").write_text(content)
    outcome = read(tmp_path / "a.json", mapping(SPEED))
    assert outcome.reason == "" and models_and_speeds(outcome) == [("resnet18", 10.5)]


def test_json_lines_are_read_with_their_lines(tmp_path, mapping):
    (tmp_path / "a.jsonl").write_text('{"net": {"name": "resnet18"}, "speed": 10.5}\n\n{"speed": 3, "net": {"name": "vgg16"}}\n')
    outcome = read(tmp_path / "a.jsonl", mapping(SPEED))
    assert models_and_speeds(outcome) == [("resnet18", 10.5), ("vgg16", 3.0)]
    assert [record.source.line for record in outcome.records] == [1, 3]


def test_a_column_that_only_later_rows_have_is_no_missing_column(tmp_path, mapping):
    (tmp_path / "a.json").write_text('[{"n": "a", "s": 1}, {"n": "b", "s": 2, "gpu": "rtx 3090"}]')
    outcome = read(tmp_path / "a.json", mapping('[columns]\nmodel = "n"\nthroughput = "s"\ndevice = "gpu"\n'))
    assert [row_of(record)["device"] for record in outcome.records] == ["", "GeForce RTX 3090"]


def test_places_in_lists_are_reached(tmp_path, mapping):
    (tmp_path / "a.json").write_text('{"gpus": [{"name": "rtx 3090"}], "n": "a", "s": [1, 2]}')
    outcome = read(tmp_path / "a.json", mapping('[columns]\nmodel = "n"\nthroughput = "s.1"\ndevice = "gpus.0.name"\n'))
    assert models_and_speeds(outcome) == [("a", 2.0)] and outcome.records[0].source.device == "GeForce RTX 3090"


def test_labels_and_settings_are_mapped_too(tmp_path, mapping):
    (tmp_path / "a.csv").write_text("n,s,who,px\na,1,me,160\n")
    text = '[columns]\nmodel = "n"\nthroughput = "s"\nlabel.owner = "who"\nimage_size = "px"\n'
    text += '[constants]\n"label.room" = "4"\nunit = "tokens/s"\nvariant = "kernels=cudnn,build=pip"\n'
    (record,) = read(tmp_path / "a.csv", mapping(text)).records
    assert record.case.labels == {"owner": "me", "room": "4"}
    assert record.source.settings == {"image_size": "160", "unit": "tokens/s", "kernels": "cudnn", "build": "pip"}


def test_an_exported_table_brings_its_settings_back(tmp_path):
    (tmp_path / "llama.json").write_text(FILES["llama.json"])
    (tmp_path / "dlpg.csv").write_text(FILES["dlpg.csv"])
    rows = [row_of(record) for name in ("llama.json", "dlpg.csv") for record in read(tmp_path / name).records]
    (tmp_path / "export.csv").write_text(csv_text(rows))
    again = [row_of(record) for record in read(tmp_path / "export.csv").records]
    for name in ("model", "device", "throughput", "unit", "part", "variant", "vendor", "device_year"):
        assert [row[name] for row in again] == [row[name] for row in rows], name
    assert read(tmp_path / "export.csv").records[-1].source.settings == {}


def test_printed_digits_are_allowed_for(tmp_path, mapping):
    (tmp_path / "a.csv").write_text("Network,bs,img/s,seconds\na,1,0.05,21.270\n")
    assert read(tmp_path / "a.csv", mapping()).reason == ""


GUESSED = {
    "a.csv": 'Network,bs,img/s,latency (ms),comment,Peak Mem (MB)\nResNet-50,64,"1,280.5",50.1,fast,1200\n',
    "a.json": '{"gpu": {"name": "RTX 4090"}, "runs":'
    ' [{"net": {"name": "ResNet-50"}, "bs": 64, "img_per_sec": 1280.5, "step_s": 0.05}]}',
    "a.jsonl": '{"model_name": "ResNet-50", "batch_size": 64, "samples_per_sec": 1280.5}\n'
    '{"model_name": "b", "samples_per_sec": 1}\n',
    "b.json": '{"model": "ResNet-50", "gpu_model": "A100", "batch": 64, "throughput": 1280.5, "time_seconds": 0.05}',
}


@pytest.mark.parametrize("name", GUESSED)
def test_a_made_mapping_reads_the_file_that_it_was_made_for(tmp_path, mapping, name):
    (tmp_path / name).write_text(GUESSED[name])
    outcome = read(tmp_path / name, mapping(guess_mapping(File(tmp_path / name))))
    assert outcome.reason == ""
    row = row_of(outcome.records[0])
    assert (row["model"], row["replica_batch"], row["throughput"]) == ("resnet50", 64, 1280.5)


def test_a_made_mapping_shows_its_guesses_and_what_it_leaves_out(tmp_path):
    (tmp_path / "a.csv").write_text(GUESSED["a.csv"])
    text = guess_mapping(File(tmp_path / "a.csv"))
    assert 'model = "Network"    # the first is "ResNet-50"' in text
    assert '# label.comment = "comment"    # the first is "fast"' in text
    assert "peak_bytes = 1000000    #" in text and '# device = "RTX 3090"' in text


def test_a_mapping_cannot_be_made_of_what_is_no_table(tmp_path):
    (tmp_path / "a.txt").write_text("hello\n")
    with pytest.raises(UsageError, match="nothing to map"):
        guess_mapping(File(tmp_path / "a.txt"))


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
