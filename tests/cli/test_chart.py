import json

import pytest

from steptime.store.files import Store
from tests.guide.conftest import everything, run


@pytest.fixture
def filled(home):
    store = Store(home / "store")
    store.put_all(everything())
    return store


@pytest.mark.slow
def test_chart_prints_a_table_json_or_a_picture(filled, inside, tmp_path):
    asked = ("chart", "--x", "model", "--group", "precision", "-f", "framework=PyTorch", "-f", "replicas=1")
    shown = inside(*asked)
    assert "out_of_memory" in shown.out and "1469" in shown.out
    assert "1 contended run is left out" in shown.err
    assert {p["status"] for p in inside(*asked, "--json").json} == {"ok", "not run", "out_of_memory"}
    assert inside(*asked, "-o", "out.svg").code == 0
    assert (tmp_path / "out.svg").read_text().startswith("<svg")


def test_chart_takes_an_address_and_named_series(filled, inside):
    by_address = inside("chart", "--url", "http://h/?x=precision&series=t: framework=PyTorch&model=vgg16", "--json")
    by_flags = inside("chart", "--x", "precision", "-s", "t: framework=PyTorch", "-f", "model=vgg16", "--json")
    assert by_address.out == by_flags.out != ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("chart", "--x", "modle"), "unknown dimension 'modle'"),
        (("chart", "-f", "model"), "a filter is written DIMENSION=VALUE"),
        (("chart", "-f", "phase=training,precision=fp16"), "two filters are written 'phase=training; precision=fp16'"),
        (("chart", "--url", "/guide?phase=training,precision=fp16"), "two filters are written 'phase=training&precision=fp16'"),
        (("chart", "-s", "t: phase=training,precision=fp16"), "two filters are written"),
        (("compare", "phase=training,precision=fp16", "phase=training"), "two filters are written"),
        (("compare", "model=a", "model=b", "-f", "phase=training,precision=fp16"), "two filters are written"),
        (("report", "out.html", "-w", "phase=training,precision=fp16"), "two filters are written"),
        (("list", "-w", "phase=training,precision=fp16"), "two filters are written"),
        (("export", "-w", "phase=training,precision=fp16"), "two filters are written"),
        (("push", "http://127.0.0.1:9/", "--token", "x", "-w", "phase=training,precision=fp16"), "two filters are written"),
        (("list", "-w", "phase"), "a filter is written DIMENSION=VALUE"),
        (("run", "mlp", "-m", "layers=2", "-m", "layers=3"), "--model-option layers is given twice"),
        (("run", "mlp", "--label", "a=1", "--label", "a=2"), "--label a is given twice"),
        (("chart", "-o", "x.gif"), "unknown kind of file 'gif'; known: csv"),
        (("chart", "-o", "/nowhere/x.csv"), "cannot write /nowhere/x.csv"),
        (("chart", "--baseline", "zz", "--group", "precision"), "unknown baseline 'zz'"),
        (("chart", "--theme", "pink"), "unknown theme 'pink'; known: dark, light"),
        (("compare", "last"), "two or more"),
        (("compare", "last", "model=a"), "not both at once"),
        (("compare", "model=a", "model=b", "--fail-on", "bad"), "unknown verdict 'bad'"),
        (("compare", "model=a", "model=b", "--margin", "lots"), "--margin takes a share"),
        (("compare", "nope", "last"), "unknown record 'nope'"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(filled, inside, arguments, words):
    outcome = inside(*arguments)
    assert outcome.code == 2
    assert words in outcome.err and outcome.err.count("\n") == 1


def test_list_and_report_read_filters_as_charts_do(filled, inside, tmp_path):
    def count(*filters: str) -> int:
        return len(inside("list", "--json", *(word for text in filters for word in ("-w", text))).json)

    assert count("model=vgg16; precision=fp16") == count("model=vgg16", "precision=fp16") > 0
    assert count("precision=fp16", "precision=fp32") == count("precision=fp16, fp32") > count("precision=fp16")
    filled.put(run(100.0, model="mlp", model_options={"layers": 4, "width": 8}))
    assert count("model=vgg16,mlp(layers=4,width=8)") == count("model=vgg16") + 1
    runs = count("model=vgg16; precision=fp16")
    assert inside("report", "out.html", "-w", "model=vgg16; precision=fp16", "--json").json[0]["runs"] == runs


def test_compare_is_a_gate_by_its_exit_code(filled, inside):
    asked = ("compare", "half: precision=fp16", "single: precision=fp32", "-f", "model=vgg16; framework=JAX")
    outcome = inside(*asked)
    assert outcome.code == 0 and "slower: single has 44% less throughput than half" in outcome.out
    assert inside(*asked, "--fail-on", "slower").code == 1
    assert inside(*asked, "--fail-on", "faster,undecided").code == 0
    found = json.loads(inside(*asked, "--json").out)
    assert found["differences"][0]["verdict"] == "slower"


def test_compare_takes_ids(filled, inside):
    a, b = run(100.0), run(200.0, precision="fp16")
    filled.put_all([a, b])
    outcome = inside("compare", a.id, b.id)
    assert outcome.code == 0 and "faster" in outcome.out
    assert "fp16" in outcome.out
