import subprocess
import sys

from steptime.launch.machine_lock import lock_path, turn

HOLDER = (
    "from steptime.launch.machine_lock import turn\nwith turn(True, lambda: None):\n    print('mine', flush=True)\n    input()\n"
)


def test_two_at_once_take_turns_and_a_dead_holder_gives_it_back(home, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(home))
    told = []
    holder = subprocess.Popen([sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout and holder.stdin
    assert holder.stdout.readline() == b"mine\n"

    def waiting():
        told.append(True)
        holder.kill()

    with turn(True, waiting):
        assert lock_path().exists()
    assert told == [True]
    holder.communicate()


def test_who_does_not_want_to_wait_does_not():
    with turn(True, lambda: None), turn(False, lambda: None):
        pass
