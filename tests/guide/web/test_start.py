"""`steptime guide` from its first line on."""

from __future__ import annotations

import json
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytestmark = pytest.mark.real


def test_the_address_answers_as_soon_as_it_is_printed(tmp_path):
    command = [Path(sys.executable).with_name("steptime"), "guide", "--port", "0", "--no-open", "--json", "--store", tmp_path]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert running.stdout
        connection = HTTPConnection(urlsplit(json.loads(running.stdout.readline())["url"]).netloc, timeout=20)
        connection.request("GET", "/api/version")
        assert connection.getresponse().status == 200
    finally:
        running.terminate()
        running.wait(20)
