import subprocess
import sys

from steptime.launch.machine_lock import lock_path, machine_lock

HOLDER = """
from steptime.launch.machine_lock import machine_lock
with machine_lock(True, lambda: None):
    print('mine', flush=True)
    input()
"""


def test_two_at_once_take_turns_and_a_dead_holder_gives_it_back(home, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(home))
    waits = []
    holder = subprocess.Popen([sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout and holder.stdin
    assert holder.stdout.readline() == b"mine\n"

    def on_wait():
        waits.append(True)
        holder.kill()

    with machine_lock(True, on_wait):
        assert lock_path().exists()
    assert waits == [True]
    holder.communicate()


def test_who_does_not_want_to_wait_does_not():
    with machine_lock(True, lambda: None), machine_lock(False, lambda: None):
        pass
