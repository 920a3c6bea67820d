import pytest

from steptime.core.machine.cpus import cgroup_quota, usable_threads


def tree(tmp_path, files, membership):
    for name, text in files.items():
        path = tmp_path / "cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "self").write_text(membership)
    return tmp_path / "cgroup", tmp_path / "self"


@pytest.mark.parametrize(
    ("files", "membership", "wanted"),
    [
        ({"a/b/cpu.max": "150000 100000"}, "0::/a/b\n", 1.5),
        ({"a/b/cpu.max": "max 100000", "a/cpu.max": "200000 100000"}, "0::/a/b\n", 2.0),
        ({"cpu/job/cpu.cfs_quota_us": "50000", "cpu/job/cpu.cfs_period_us": "100000"}, "3:cpu,cpuacct:/job\n", 0.5),
        ({"cpu/job/cpu.cfs_quota_us": "-1", "cpu/job/cpu.cfs_period_us": "100000"}, "3:cpu:/job\n", None),
        ({}, "0::/\n", None),
        ({}, "", None),
    ],
)
def test_the_tightest_quota_of_either_cgroup_version_is_found(tmp_path, files, membership, wanted):
    assert cgroup_quota(*tree(tmp_path, files, membership)) == wanted


def test_there_is_always_a_thread_to_use():
    assert usable_threads() >= 1
