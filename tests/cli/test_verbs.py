import json

import pytest

from steptime.cli.main import verbs

pytestmark = pytest.mark.usefixtures("known_machine")


@pytest.mark.parametrize("verb", verbs())
def test_every_verb_has_help(inside, verb):
    done = inside(verb, "--help")
    assert done.code == 0
    assert done.out.startswith(f"Usage: steptime {verb}")


def test_models_are_listed_with_their_counts(inside):
    rows = {row["name"]: row for row in inside("models", "--json").json}
    assert rows["mnist_cnn"]["parameters"] == 3_274_634
    assert rows["resnet50"]["flops_forward"] == pytest.approx(8.178e9, rel=0.001)
    assert len(rows) >= 47


def test_a_model_is_drawn_into_a_file(inside, tmp_path):
    assert inside("models", "lenet", "--svg", tmp_path / "lenet.svg").code == 0
    assert (tmp_path / "lenet.svg").read_text().startswith("<svg ")
    assert "need the NAME" in inside("models", "--svg", "x.svg").err
    assert "cannot write /nowhere/x.svg" in inside("models", "lenet", "--svg", "/nowhere/x.svg").err


def test_a_model_is_drawn_layer_by_layer(inside):
    done = inside("models", "alexnet_conv")
    for layer in ("conv1", "56x56x64", "pool1", "27x27x64", "pool5", "6x6x256", "2,469,696 parameters"):
        assert layer in done.out


def test_backends_say_how_to_install_what_is_missing(inside):
    rows = {row["backend"]: row for row in inside("backends", "--json").json}
    assert rows["null"]["installed"] is True
    assert rows["pytorch"]["installed"] is False
    assert rows["pytorch"]["install"] == "steptime setup pytorch"


@pytest.mark.slow
def test_doctor_proves_what_works_and_says_what_to_do(inside):
    done = inside("doctor", "null", "fake", "pytorch", "--json")
    assert done.code == 1
    works = {row["backend"]: row["works"] for row in done.json}
    assert works == {"null": True, "fake": True, "pytorch": False}
    assert done.json[2]["remedy"] == "steptime setup pytorch"


def test_doctor_notices_an_interpreter_without_the_framework(inside):
    import sys

    done = inside("doctor", "pytorch", "--python", sys.executable, "--json")
    assert done.code == 1
    assert "No module named 'torch'" in done.json[0]["seen"]


def test_a_half_installed_environment_is_not_taken_for_a_whole_one(inside, home):
    folder = home / "environments" / "pytorch" / "bin"
    folder.mkdir(parents=True)
    (folder / "python").write_text("#!/bin/sh\n")
    done = inside("doctor", "pytorch", "--json")
    assert "is not finished" in done.json[0]["seen"]


def test_the_machine_is_described(inside):
    (machine,) = inside("machine", "--json").json
    assert machine["cores"] >= 1 and machine["cpu"]
    assert "usable CPUs" in inside("machine").out


def test_export_writes_a_file(inside, tmp_path):
    inside("run", "mlp", "-B", "fake", "--phase", "training")
    assert inside("export", tmp_path / "out.csv").code == 0
    assert (tmp_path / "out.csv").read_text().startswith("id,phase,model,")
    assert len(inside("export", "--format", "psc").out.splitlines()) == 2
    assert json.loads(inside("export", "--format", "json").out)["status"] == "ok"


def test_show_explains_a_record(inside):
    inside("run", "mlp", "-B", "fake", "--phase", "training")
    done = inside("show")
    for words in (
        "mean speed",
        "95% interval",
        "warm-up",
        "repeat it",
        "verdict",
        "parameters",
        "energy                unavailable"[:6],
    ):
        assert words in done.out


def test_an_empty_store_says_what_to_do(inside):
    done = inside("list")
    assert done.code == 0
    assert "`steptime run` makes some" in done.err


def test_units_and_names_of_imported_records_are_shown(inside, tmp_path):
    from tests.importing.samples import FILES

    (tmp_path / "llama.json").write_text(FILES["llama.json"])
    (tmp_path / "benchmark-infer-amp-nhwc-pt240-cu124-4090.csv").write_text(
        FILES["benchmark-infer-amp-nhwc-pt112-cu113-rtx3090.csv"]
    )
    assert inside("import", tmp_path / "llama.json", tmp_path / "benchmark-infer-amp-nhwc-pt240-cu124-4090.csv").code == 0
    assert "8000 tokens/s" in inside("list").out
    rows = {row["part"] or row["model"]: row for row in inside("list", "--json").json}
    assert "128 tokens/s" in inside("show", rows["generation"]["id"]).out
    shown = " ".join(inside("show", rows["resnet50"]["id"]).out.split())
    assert "device GeForce RTX 4090" in shown and "image size 224" in shown and "layout nhwc" in shown
