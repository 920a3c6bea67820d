from pathlib import Path

import pytest

from steptime.importing.recognise import read
from tests.importing.samples import FILES


@pytest.fixture
def samples(tmp_path) -> Path:
    """All samples in one folder, as they would lie beside each other."""
    folder = tmp_path / "samples"
    folder.mkdir()
    for name, content in FILES.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


@pytest.fixture
def imported(samples):
    """Reads one sample, whose content may be changed first."""

    def read_sample(name: str, *changes: tuple[str, str]):
        path = samples / name
        text = path.read_bytes()
        for old, new in changes:
            assert old.encode() in text, old
            text = text.replace(old.encode(), new.encode())
        path.write_bytes(text)
        return read(path)

    return read_sample
