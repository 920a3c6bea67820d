"""A process that has imported a framework once and forks a child for every job.

Importing costs seconds, a fork milliseconds. Nothing but imports happens before the fork: no thread pool, no device, no model,
so each case still has a process of its own that shares no state with the others. The worker's own modules are imported too: they
lie in a zip file without bytecode, and Python would compile them again for every case.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path

from steptime.core.backends.base import find
from steptime.core.worker.events import VARIABLE


def serve(descriptor: int, backend: str) -> int:
    """Runs the jobs that arrive on a socket, one at a time, until the other end is closed."""
    with socket.socket(fileno=descriptor) as line:
        find(backend).preload()
        _preload_ourselves()
        _send(line, ready=True)
        while True:
            request, descriptors, _, _ = socket.recv_fds(line, 1 << 16, 2)
            if not request:
                return 0
            sys.stdout.flush()
            sys.stderr.flush()
            pid = os.fork()
            if pid == 0:
                line.close()
                _child(Path(json.loads(request)["folder"]), *descriptors)
            for each in descriptors:
                os.close(each)
            _send(line, pid=pid)
            _send(line, code=os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def _preload_ourselves() -> None:
    import steptime.core.worker.run_case  # noqa: F401
    from steptime.core.models import zoo

    zoo.models()


def _child(folder: Path, log: int, events: int) -> None:
    """Becomes the worker of one job; does not return."""
    from steptime.core.worker.__main__ import finish, run_folder

    os.setsid()
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)
    os.chdir(folder)
    os.environ[VARIABLE] = str(events)
    finish(run_folder(folder))


def _send(line: socket.socket, **content: object) -> None:
    try:
        line.send(json.dumps(content).encode())
    except OSError:
        os._exit(0)  # the controller is gone
