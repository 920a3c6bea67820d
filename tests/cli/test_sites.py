"""`steptime sites`, and what `run --on` says of sites and cases that do not go together."""

import json

import pytest

pytestmark = pytest.mark.usefixtures("known_machine")
PLAN = """
[constants]
model = "mlp"
backend = "null"
phase = "training"

[axes]
device = ["k80"]
"""


def test_sites_are_listed_with_what_they_have(inside):
    done = inside("sites")
    assert done.code == 0
    for words in ("bridges", "cpu k80 p100", "picotte", "generic", "scratch local"):
        assert words in done.out
    rows = {row["name"]: row for row in inside("sites", "list", "--json").json}
    assert rows["bridges"]["devices"] == ["cpu", "k80", "p100"]


def test_a_site_s_file_is_shown_to_be_copied(inside, tmp_path):
    text = inside("sites", "show", "generic").out
    assert json.loads(inside("sites", "show", "generic", "--json").out)["text"] == text
    (tmp_path / "sites").mkdir()
    (tmp_path / "sites" / "ours.toml").write_text(text)
    assert "ours" in inside("sites").out


def test_a_site_that_cannot_be_used_is_listed_with_its_problem(inside, tmp_path):
    (tmp_path / "sites").mkdir()
    (tmp_path / "sites" / "broken.toml").write_text("[defaults]\npartion = 'x'\n")
    assert "broken.toml:2: defaults.partion: unknown key" in inside("sites").out
    done = inside("run", "mlp", "-B", "null", "--on", "broken")
    assert done.code == 2 and "(did you mean partition?)" in done.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["sites", "shwo"], "unknown verb of sites 'shwo' (did you mean show?); known: check, list, show"),
        (["sites", "show"], "which site? one of: bridges, generic, picotte"),
        (["sites", "show", "bridge"], "unknown site 'bridge' (did you mean bridges?)"),
        (["run", "mlp", "-B", "null", "--on", "nowhere"], "unknown site 'nowhere'; known: bridges, generic, local, picotte"),
        (["run", "mlp", "-B", "null", "--device", "k80"], "unknown device 'k80'; known: cpu, cuda"),
        (["run", "mlp", "-B", "null", "--device", "k8", "--on", "bridges"], "(did you mean k80?); known: cpu, k80, p100"),
        (["run", "mlp", "-B", "null", "--data-store", "x", "--on", "bridges"], "unknown data store of bridges 'x'; known: dram"),
        (["run", "mlp", "-B", "null", "--detach"], "--detach is for sites (--on SITE)"),
        (["run", "mlp", "-B", "null", "--find-max-batch", "--on", "bridges"], "--find-max-batch tries one batch after another"),
        (["run", "mlp", "-B", "jax", "--on", "bridges"], "or configure it in"),
        (["export", "--format", "psc-files"], "name a folder"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(inside, arguments, words):
    done = inside(*arguments)
    assert done.code == 2
    assert words in done.err and done.err.count("\n") == 1


def test_a_device_that_is_not_here_is_named_with_its_place_in_the_plan(inside, tmp_path):
    (tmp_path / "p.toml").write_text(PLAN)
    assert "p.toml:8: axes.device: unknown device 'k80'" in inside("run", "p.toml").err
    assert inside("run", "p.toml", "--on", "bridges", "--dry-run").code == 0


def test_a_dry_run_shows_what_would_be_submitted(inside):
    done = inside("run", "mlp", "-B", "null", "--on", "bridges", "--device", "k80,p100", "--devices", "1,4", "--dry-run")
    assert done.code == 0
    for words in (
        "on bridges",
        "1 k80 in GPU-shared",
        "4 k80 in GPU-shared",
        "0:30:00",
        "2 unsupported: bridges allows 1 or 2 p100",
    ):
        assert words in done.out
    assert not (done.err or inside("status", "--json").out)


def test_without_slurm_s_commands_it_is_said_where_to_go(inside, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    done = inside("run", "mlp", "-B", "null", "--on", "generic")
    assert done.code == 2
    assert "sbatch is not on PATH: run this on a login node of the cluster" in done.err


def test_result_files_are_named_as_the_centre_named_them(inside, tmp_path):
    inside("run", "mlp", "-B", "fake", "-n", "4,8", "--phase", "training")
    assert inside("export", "--format", "psc-files", tmp_path / "results").code == 0
    names = sorted(path.name for path in (tmp_path / "results").iterdir())
    assert len(names) == 2
    assert names[0].endswith(":1:dram") and names[1].endswith(":1:dram:2")
    texts = "".join((tmp_path / "results" / name).read_text() for name in names)  # cases of one second are in any order
    assert "Mean Speed : 400" in texts and "Mean Speed : 800" in texts
