"""What the kernel says of memory, in either version of cgroups."""

import pytest

from steptime.core.machine import memory


@pytest.mark.parametrize(
    ("files", "kills"),
    [
        ({}, 0),
        ({"job/step/memory.events": "oom 3\noom_kill 2"}, 2),
        ({"job/step/task_0/memory.oom_control": "oom_kill 1", "job/step/task_1/memory.oom_control": "oom_kill 4"}, 5),
    ],
)
def test_kills_for_memory_are_counted_where_ranks_are(tmp_path, monkeypatch, files, kills):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    here = tmp_path / "job" / "step" / "task_0"
    monkeypatch.setattr(memory, "cgroup_folders", lambda _: [here, here.parent, here.parent.parent])
    assert memory.memory_kills() == kills
