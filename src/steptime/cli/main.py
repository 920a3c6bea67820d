"""The command `steptime`. A verb is imported only when it runs, so that the tool starts fast."""

from __future__ import annotations

import importlib
import os
import re
import signal
import sys
from typing import Any

import click

from steptime import __version__
from steptime.core.errors import SteptimeError

FOLDER = os.path.dirname(__file__)
"""without pathlib, whose import is a tenth of the time to start"""
VERB = re.compile(r'"""`steptime (\w+)`: (.+)\."""')
"""how the file of a verb begins; what follows the colon is its line in `steptime --help`"""
ORDER = (
    *("run", "resume", "status", "cancel", "archive", "list", "show", "chart", "compare", "export", "guide", "push", "report"),
    *("import", "plans", "models", "backends", "sites", "data", "machine", "setup", "doctor"),
)
"""of `steptime --help`; a verb that is not named comes last"""
DONE, SOME_FAILED, BAD_USAGE, INTERRUPTED = 0, 1, 2, 130


def verbs() -> dict[str, str]:
    """Every verb and its line of help, in the order of the help."""
    files = (name for name in os.listdir(FOLDER) if name.endswith(".py"))
    summaries = {name: _summary(name) for name in (file.removesuffix(".py") for file in files)}
    places = {name: place for place, name in enumerate(ORDER)}
    names = sorted(filter(summaries.get, summaries), key=lambda name: (places.get(name, len(places)), name))
    return {name: summaries[name] for name in names}


def _summary(name: str) -> str:
    """Empty if no file of this name is a verb. The file is read, not imported: help starts at once."""
    path = os.path.join(FOLDER, f"{name}.py")
    if not name.isidentifier() or not os.path.isfile(path):
        return ""
    with open(path, encoding="utf-8") as file:
        begin = VERB.match(file.read())
    return begin[2] if begin and begin[1] == name else ""


class Verbs(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(verbs())

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if not _summary(name):
            return None
        command: click.Command = importlib.import_module(f"steptime.cli.{name}").command
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and not _summary(args[0]):
            raise click.UsageError(f"unknown command '{args[0]}'; known: {', '.join(verbs())}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(verbs().items()))


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="steptime")
def steptime() -> None:
    """How fast does deep learning run here, why, and what would make it faster?"""


def main() -> None:
    """Every way in which a command can end, as one line and an exit code."""
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGINT, _interrupt)  # also where the shell that started us in the background ignores it
    sys.exit(_ended())


def _ended() -> int:
    try:
        outcome: Any = steptime.main(standalone_mode=False)
        return outcome if isinstance(outcome, int) else DONE
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except click.ClickException as problem:
        return _complain(problem.format_message())
    except SteptimeError as problem:
        return _complain(str(problem))
    except (KeyboardInterrupt, click.Abort):
        print("steptime: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader has gone; nothing is left to say
        return DONE


def _complain(message: str) -> int:
    print(f"steptime: {message}", file=sys.stderr)
    return BAD_USAGE


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
