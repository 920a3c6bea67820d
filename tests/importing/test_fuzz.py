"""Ten thousand files that nobody would write: none stops the import, none becomes a record that cannot be."""

import gzip
import io
import json
import random
import re
import zipfile

import msgspec
import pytest

from steptime.core.schema import Record
from steptime.core.stats.invariants import broken_invariant
from steptime.importing.mapping import MappedImporter
from steptime.importing.recognise import read
from steptime.store.columns import NAMES, row_of
from tests.importing.samples import FILES, workbook

SAMPLES = [(name, content if isinstance(content, bytes) else content.encode()) for name, content in FILES.items()]
FIGURES = (
    b"nan",
    b"NaN",
    b"-1",
    b"0",
    b"-0.0",
    b"inf",
    b"-inf",
    b"1e999",
    b"1e-320",
    b"9" * 40,
    b"1e15",
    b"null",
    b'"x"',
    b"",
    b"0x10",
)
FILLERS = (b"x", b"9", b"[", b'"', b"\t", b"-", b" ", b"\n", b"_", b"|", b"{", b"1 ", b"a.", b"a,", b", ", b"\t\n")
MAPPED = MappedImporter(
    "table", "", {"model": "model", "throughput": "s", "batch_time_ms": "t", "replica_batch": "b"}, {"devices_per_node": 1}, {}
)


def truncated(chance, content):
    return content[: chance.randrange(len(content) + 1)]


def flipped(chance, content):
    found = bytearray(content)
    for _ in range(chance.randrange(1, 20)):
        if found:
            found[chance.randrange(len(found))] = chance.randrange(256)
    return bytes(found)


def other_figures(chance, content):
    """One to five of the figures replaced by what is no figure, or an absurd one."""
    places = [found.span() for found in re.finditer(rb"\d+(?:\.\d+)?", content)]
    for start, end in sorted(chance.sample(places, min(len(places), chance.randrange(1, 6))), reverse=True):
        content = content[:start] + chance.choice(FIGURES) + content[end:]
    return content


def shuffled_lines(chance, content):
    lines = content.split(b"\n")
    chance.shuffle(lines)
    return b"\n".join(lines)


def doubled(chance, content):
    cut = chance.randrange(len(content) + 1)
    return content[:cut] + content * chance.randrange(1, 4) + content[cut:]


def huge_line(chance, content):
    cut = chance.randrange(len(content) + 1)
    return content[:cut] + chance.choice(FILLERS) * 200_000 + content[cut:]


def encoded_otherwise(chance, content):
    text = content.decode("utf-8", "replace")
    return text.encode(chance.choice(("utf-16", "utf-16-be", "utf-32", "utf-7", "cp037")), "replace")


def with_binary(chance, content):
    cut = chance.randrange(len(content) + 1)
    return content[:cut] + chance.randbytes(chance.randrange(1, 200)) + content[cut:]


def spliced(chance, content):
    other = chance.choice(SAMPLES)[1]
    return content[: chance.randrange(len(content) + 1)] + other[chance.randrange(len(other) + 1) :]


def other_keys(chance, content):
    """JSON with one of its values replaced by a value of another kind."""
    try:
        found = json.loads(content)
    except ValueError:
        return truncated(chance, content)
    place = found
    while isinstance(place, (dict, list)) and place:
        key = chance.choice(list(place) if isinstance(place, dict) else range(len(place)))
        if not isinstance(place[key], (dict, list)) or chance.random() < 0.3:
            place[key] = chance.choice((None, [], {}, "", -1, 1e308, True, "\ud800", [[]], {"mean": {}}))
            break
        place = place[key]
    return json.dumps(found).encode()


CHANGES = (
    truncated, flipped, other_figures, other_figures, shuffled_lines, doubled, huge_line, encoded_otherwise, with_binary, spliced,
    other_keys,
)  # fmt: skip


def zipped(**files):
    """A workbook's archive of the given texts."""
    archived = io.BytesIO()
    with zipfile.ZipFile(archived, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(f"xl/{name}", content)
    return archived.getvalue()


def laughing():
    text = b'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><workbook>&b;</workbook>'
    return zipped(**{"_rels/workbook.xml.rels": b"<Relationships/>", "workbook.xml": text})


def large():
    text = b"<workbook>" + b" " * (60 << 20) + b"</workbook>"
    return zipped(**{"workbook.xml": text, "_rels/workbook.xml.rels": b"<Relationships/>"})


BOMBS = {
    "zeroes.gz": lambda: gzip.compress(b"\0" * (300 << 20), 1),
    "trace.json.gz": lambda: gzip.compress(b'{"traceEvents": [' + b" " * (100 << 20), 1),
    "DeepBench_large.xlsx": large,
    "DeepBench_many.xlsx": lambda: zipped(**{str(number): b"" for number in range(600)}),
    "DeepBench_entities.xlsx": laughing,
    "DeepBench_cut.xlsx": lambda: workbook([["Dense Matrix Multiplication"]], [["x"]])[:-30],
    "deep.json": lambda: b"[" * 100_000 + b"]" * 100_000,
    "deep2.json": lambda: b'{"opt":' * 50_000 + b'"forward_times"' + b"}" * 50_000,
    "empty": lambda: b"",
    "zero.bin": lambda: b"\0" * 5000,
}
"""each is small on disk and huge when unpacked, or deep, or declares entities; made when it is asked for"""


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_refused_in_a_sentence(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(BOMBS[name]())
    outcome = read(path)
    assert outcome.reason and not outcome.records
    assert len(outcome.reason) < 300


def examine(outcome):
    """What must hold whatever was read."""
    assert bool(outcome.records) != bool(outcome.reason)
    for record in outcome.records:
        assert broken_invariant(record) == ""
        assert msgspec.json.decode(msgspec.json.encode(record), type=Record) == record
        row = row_of(record)
        assert tuple(row) == NAMES
        for column in ("throughput", "batch_time_ms", "uncertainty", "jitter", "p50_ms", "p99_ms"):
            assert row[column] is None or row[column] >= 0
        json.dumps(row, allow_nan=False)


def fuzz(folder, seed, count):
    chance = random.Random(seed)
    table = b"model,s,t,b\nresnet50,100,640,64\nvgg16,10,1600,16\n"
    records = 0
    for number in range(count):
        name, content = chance.choice(SAMPLES)
        content = chance.choice(CHANGES)(chance, content)
        path = folder / (name if number % 3 else f"{number}.txt")
        path.write_bytes(content)
        outcome = read(path)
        examine(outcome)
        records += len(outcome.records)
        path.unlink()
        if number % 10 == 0:
            path.write_bytes(chance.choice(CHANGES)(chance, table))
            examine(read(path, MAPPED))
            path.unlink()
    return records


@pytest.mark.slow
def test_a_few_hundred_broken_files_neither_crash_nor_make_impossible_records(tmp_path):
    assert fuzz(tmp_path, seed=1, count=400) > 50


@pytest.mark.real
def test_ten_thousand_broken_files_neither_crash_nor_make_impossible_records(tmp_path):
    assert fuzz(tmp_path, seed=2, count=10_000) > 1000
