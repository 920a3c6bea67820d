import pytest

from steptime.core.backends.base import check_options, find, names
from steptime.core.errors import UnknownName, UsageError


def test_backends_are_found_by_folder_name():
    assert {"null", "fake", "reference", "pytorch"} <= set(names())
    assert all(find(name).name == name for name in names())


def test_an_unknown_backend_lists_the_known_ones():
    with pytest.raises(UnknownName, match=r"known: .*fake.*null.*pytorch.*reference"):
        find("nothing")


def test_options_are_checked_by_name_and_type():
    check_options(find("fake"), {"step_ms": 5, "sleep": True})
    for bad in ({"speed": 1}, {"sleep": 1}, {"step_ms": "x"}, {"warmup": True}):
        with pytest.raises(UsageError):
            check_options(find("fake"), bad)


def test_no_framework_is_imported_by_looking():
    import subprocess
    import sys

    code = (
        "import sys; from steptime.core.backends import base; backends = [base.find(n) for n in base.names()]; "
        "assert not {module for backend in backends for module in backend.modules} & set(sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
