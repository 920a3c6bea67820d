"""Batch scripts: pure text, compared with golden files, and safe for any path.

A golden file that should change is written anew by: STEPTIME_WRITE_GOLDEN=1 pytest tests/schedulers/test_script.py
"""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.core.errors import UnknownName, Unsupported
from steptime.core.schema import Case
from steptime.schedulers.request import chunks, request_of, request_words
from steptime.schedulers.script import Script, Task, commands, comment, expandable, script_text
from steptime.schedulers.site_file import site_of
from steptime.schedulers.site_search import SHIPPED, find_site
from steptime.schedulers.slurm.script import SlurmScript

GOLDEN = Path(__file__).parent / "golden"
BRIDGES = find_site(str(SHIPPED / "bridges.toml"))
OWN = site_of(
    """
    gpu_flag = "gpus-per-node"
    launcher = "mpirun"
    [defaults]
    account = "abc"
    qos = "high"
    memory = "8G"
    sbatch = ["--exclusive"]
    [arrays]
    running = 5
    [environment]
    ONEDNN_MAX_CPU_ISA = "AVX2"
    CACHE = "$HOME/it's here"
    [devices.a100]
    [backends.fake]
    lines = ["source /opt/fake.sh"]
    python = "$FAKE_HOME/bin/python"
    """,
    "own",
    "own.toml",
)
CASE = Case("mnist_cnn", "pytorch", 100, threads=2)


def made(site, case, folder="/store/sweeps/s1", tasks=1, python=""):
    names = [Task(f"mnist_cnn-{i}", f"case {i}") for i in range(tasks)]
    return script_text(Script(site, request_of(site, case), names, folder, tasks > 1, python), SlurmScript())


SCRIPTS = {
    "one-gpu-staged": lambda: made(BRIDGES, Case("mnist_cnn", "pytorch", 100, device="p100", data="mnist", data_store="local")),
    "four-gpus": lambda: made(BRIDGES, Case("mnist_cnn", "pytorch", 100, device="k80", devices=4, threads=2)),
    "cpu-own-environment": lambda: made(find_site(str(SHIPPED / "generic.toml")), CASE, python="/opt/torch/bin/python"),
    "two-nodes-mpirun": lambda: made(OWN, Case("mlp", "fake", 8, device="a100", devices=2, nodes=2)),
    "array": lambda: made(OWN, Case("mlp", "fake", 8), tasks=12),
    "hostile-path": lambda: made(BRIDGES, CASE, "/a b/it's $(touch pwned)\n#SBATCH --x\n`id`/sweeps/s1"),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_are_as_they_were(name):
    text, path = SCRIPTS[name](), GOLDEN / f"{name}.sh"
    if os.environ.get("STEPTIME_WRITE_GOLDEN"):
        path.write_text(text)
    assert text == path.read_text()


@pytest.mark.parametrize("name", SCRIPTS)
def test_bash_can_read_them(name, tmp_path):
    (tmp_path / "s.sh").write_text(SCRIPTS[name]())
    assert subprocess.run(["bash", "-n", tmp_path / "s.sh"], capture_output=True, text=True).stderr == ""


def test_options_end_before_anything_that_a_path_could_add():
    """sbatch reads #SBATCH lines until the first line that is not a comment."""
    lines = SCRIPTS["hostile-path"]().splitlines()
    first = next(i for i, line in enumerate(lines) if line and not line.startswith("#"))
    assert lines[first].startswith("sweep='/a b/it")
    assert not any(line.startswith("#SBATCH --x") for line in lines[:first])


@given(st.text(st.characters(blacklist_characters="\0", blacklist_categories=("Cs",))))
def test_any_text_is_a_word_of_the_shell_and_nothing_else(text):
    plain = text.replace("$", "")
    done = subprocess.run(["bash", "-c", f"printf %s {expandable(plain)}"], capture_output=True)
    assert done.stdout.decode() == plain


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("module load a && module load b", ["module load a", "module load b"]),
        ("source '/a && b/x' && cd ${HOME}", ["source '/a && b/x'", "cd ${HOME}"]),
        ('export A="x && y" && z', ['export A="x && y"', "z"]),
        ("export A=1", ["export A=1"]),
        ("", [""]),
    ],
)
def test_commands_of_an_and_list_stand_alone(line, parts):
    assert commands(line) == parts


@pytest.mark.parametrize(
    "line",
    ["[ -e x ] && source x", "a && b || c", "a=$(b && c)", "a > b && c", "a && b; c", "a &&", "&& a", "a && \\", "a && b # c",
     "{ a && b", "if a && b", "echo it's && b", "a & b"],
)  # fmt: skip
def test_other_lines_stay_as_they_are(line):
    assert commands(line) == [line]


def test_variables_are_expanded_and_nothing_else():
    word = expandable("$A/${B}/it's $(id) `id` $1")
    done = subprocess.run(["bash", "-c", f"printf %s {word}"], capture_output=True, text=True, env={"A": "x y", "B": "*"})
    assert done.stdout == "x y/*/it's $(id) `id` $1"


def test_a_comment_is_one_line_whatever_is_in_it():
    assert "\n" not in comment("a\n#SBATCH --evil\r\x1b[2J b")


def test_a_number_that_the_site_does_not_give_is_unsupported_and_a_name_is_a_mistake():
    with pytest.raises(Unsupported, match="bridges allows 1 or 2 p100 per node, not 4"):
        request_of(BRIDGES, Case("mlp", "fake", 8, device="p100", devices=4))
    with pytest.raises(UnknownName, match="known: cpu, k80, p100"):
        request_of(BRIDGES, Case("mlp", "fake", 8, device="k8"))
    with pytest.raises(UnknownName, match="known: dram, local, scratch"):
        request_of(BRIDGES, Case("mlp", "fake", 8, data="mnist", data_store="scrtch"))


def test_requests_in_words():
    assert request_words(request_of(BRIDGES, Case("mlp", "fake", 8, device="p100", devices=2))) == "2 p100 in GPU-shared"
    assert request_words(request_of(BRIDGES, CASE)) == "1 node in RM-shared"
    two = Case("mlp", "fake", 8, device="p100", devices=2, nodes=2)
    assert request_words(request_of(BRIDGES, two)) == "2 p100 on each of 2 nodes in GPU-shared"


@given(st.integers(0, 5000), st.integers(1, 1001))
def test_every_case_is_in_one_job_and_no_array_is_too_large(count, largest):
    parts = chunks(OWN, count, largest)
    assert [i for part in parts for i in part] == list(range(count))
    assert all(len(part) <= max(1, min(largest, 1000)) for part in parts)
