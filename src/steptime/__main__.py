"""The command `steptime`, also as `python -m steptime`.

`pip install steptime` installs what a framework's interpreter needs (numpy, Python 3.9); the command needs more, and says so.
"""

from __future__ import annotations

import sys

REMEDY = "install the command with: pip install 'steptime[tool]'"
BAD_USAGE = 2


def main() -> None:
    if sys.version_info < (3, 11):
        _refuse(f"the command needs Python 3.11 or newer, this is {sys.version.split()[0]}; `import steptime` works here")
    try:
        from steptime.cli.main import main as command

        command()
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("steptime"):
            raise
        _refuse(f"the command needs the package {missing.name}, which is not installed; {REMEDY}")


def _refuse(message: str) -> None:
    print(f"steptime: {message}", file=sys.stderr)
    sys.exit(BAD_USAGE)


if __name__ == "__main__":
    main()
