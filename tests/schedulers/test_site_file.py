"""Site files: what they may say, and what is said of those that say something else."""

import msgspec
import pytest

from steptime.core.errors import UsageError
from steptime.schedulers.site import Site, Wants
from steptime.schedulers.site_file import site_of
from steptime.schedulers.site_search import SHIPPED, find_site, site_paths

WHOLE = """
description = "ours"
cores = 8
gpu_flag = "gpus-per-node"
[defaults]
partition = "def"
account = "abc"
sbatch = ["--exclusive"]
[arrays]
running = 4
[devices.k80]
partition = "gpu"
counts = [1, 2, 4]
sbatch = ["--constraint=k80"]
[backends.pytorch]
modules = ["python/3.11"]
conda = "torch"
[directories]
scratch = "$SCRATCH"
"""


def test_a_whole_site_is_read():
    site = site_of(WHOLE, "ours", "sites/ours.toml")
    assert site.wants == Wants("def", "abc", sbatch=("--exclusive",))
    assert list(site.devices) == ["cpu", "k80"]
    k80, cpu = site.devices["k80"], site.devices["cpu"]
    assert (k80.gres, k80.device, k80.counts) == ("gpu:k80", "cuda", (1, 2, 4))
    assert k80.wants == Wants("gpu", "abc", sbatch=("--exclusive", "--constraint=k80"))
    assert (cpu.gres, cpu.device, cpu.wants.partition) == ("", "cpu", "def")
    assert site.login_shell, "modules are defined in login shells only"
    assert not site_of("", "bare", "bare.toml").login_shell


@pytest.mark.parametrize(
    ("text", "place", "problem"),
    [
        ("partion = 'x'", "s.toml:1: partion: ", "unknown key 'partion'"),
        ("[defaults]\n\npartion = 'x'", "s.toml:3: defaults.partion: ", "(did you mean partition?); known: account, memory"),
        ("[devices.k80]\ncount = [1]", "s.toml:2: devices.k80.count: ", "(did you mean counts?)"),
        ("[devices.k80]\ndevice = 'gpu'", "s.toml:2: devices.k80.device: ", "known: cpu, cuda"),
        ("[devices.k80]\ncounts = [0]", "s.toml:2: devices.k80.counts: ", "takes a whole number from 1 on"),
        ("[backends.pytroch]\npython = 'x'", "s.toml:1: backends.pytroch: ", "(did you mean pytorch?)"),
        ("[defaults]\ntime = 'soon'", "s.toml:2: defaults.time: ", "takes a time as Slurm writes it"),
        ("[defaults]\nmemory = 8", "s.toml:2: defaults.memory: ", "takes an amount as Slurm writes it"),
        ("[defaults]\nsbatch = ['constraint=x']", "s.toml:2: defaults.sbatch: ", "takes options of sbatch"),
        ("[defaults]\nsbatch = ['--comment=a\\nrm -rf']", "s.toml:2: ", ""),
        ("[defaults]\npartition = \"a\\nb\"", "s.toml:2: defaults.partition: ", "without spaces and quotes"),
        ("[defaults]\nsbatch = [\"--comment=a\\n#SBATCH --x\"]", "s.toml:2: defaults.sbatch: ", "takes options of sbatch"),
        ('[defaults]\npartition = "a\\n"', "s.toml:2: defaults.partition: ", "without spaces and quotes"),
        ('[defaults]\nsbatch = ["--x\\n"]', "s.toml:2: defaults.sbatch: ", "takes options of sbatch"),
        ("cores = true", "s.toml:1: cores: ", "takes a whole number from 0 on"),
        ("login_shell = 1", "s.toml:1: login_shell: ", "takes true or false"),
        ("[backends.pytorch]\nmodules = 'x'", "s.toml:2: backends.pytorch.modules: ", "takes a list: [...]"),
        ("poll_seconds = 0", "s.toml:1: poll_seconds: ", "takes a number of seconds above 0"),
        ("scheduler = 'pbs'", "s.toml:1: scheduler: ", "known: slurm"),
        ("launcher = 'ssh'", "s.toml:1: launcher: ", "known: mpirun, srun"),
        ("[environment]\n'A B' = 'x'", "s.toml:2: environment.A B: ", "is not a name"),
        ("[directories]\nscratch = 3", "s.toml:2: directories.scratch: ", "takes a text"),
        ("defaults = 3", "s.toml:1: defaults: ", "is a table"),
        ("devices = 3", "s.toml:1: devices: ", "is a table of tables"),
        ("x = 1\ny = [", "s.toml", "not TOML"),
        ("x = 1\ny = nothing\n", "s.toml:2: not TOML", "column"),
    ],
)  # fmt: skip
def test_errors_name_file_line_key_and_what_is_valid(text, place, problem):
    if problem == "":
        assert site_of(text, "s", "s.toml").wants.sbatch == ("--comment=a\\nrm -rf",), "a literal backslash is just that"
        return
    with pytest.raises(UsageError) as caught:
        site_of(text, "s", "s.toml")
    assert str(caught.value).startswith(place)
    assert problem in str(caught.value)


def test_a_site_is_kept_with_its_sweep_as_it_was():
    site = site_of(WHOLE, "ours", "sites/ours.toml")
    assert msgspec.json.decode(msgspec.json.encode(site), type=Site) == site
    bare = site_of("", "bare", "bare.toml")
    assert msgspec.json.decode(msgspec.json.encode(bare), type=Site) == bare


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.toml")), ids=lambda p: p.stem)
def test_shipped_sites_are_valid_and_described(path):
    assert find_site(str(path)).description


def test_the_folder_at_hand_comes_before_the_user_s_and_those_that_are_shipped(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert site_paths()["bridges"].parent == SHIPPED
    for folder in (tmp_path / "config" / "steptime" / "sites", tmp_path / "sites"):
        folder.mkdir(parents=True)
        (folder / "bridges.toml").write_text("description = 'mine'")
        assert site_paths()["bridges"] == folder / "bridges.toml"
    with pytest.raises(UsageError, match=r"unknown site 'bridge' .did you mean bridges.*sites/bridge.toml"):
        find_site("bridge")
