"""The command `steptime`. Each verb is imported when it is asked for, so that the tool starts at once."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from typing import Any

import click

from steptime import __version__
from steptime.core.errors import SteptimeError

VERBS = {
    "run": "measure one case, a grid of them, or a plan",
    "resume": "go on with a sweep that was interrupted",
    "status": "how far each sweep has come",
    "cancel": "end a sweep that is being run",
    "archive": "move old results aside, and back",
    "list": "the records in the store",
    "show": "one record, in full",
    "chart": "any chart of the records, as a table or a picture",
    "compare": "runs, or groups of runs, against each other",
    "export": "records as CSV or JSON for other tools",
    "guide": "explore all results in the browser",
    "push": "send records to a guide that runs elsewhere",
    "report": "all results and the guide to explore them, in one file",
    "import": "results of other tools, as records",
    "plans": "the experiments that come with steptime",
    "models": "the models, or one of them layer by layer",
    "backends": "the frameworks, what they can do and where they come from",
    "sites": "the clusters to run on, and whether they work",
    "data": "data sets to feed: which are here, and where they come from",
    "machine": "what this machine is, and what was found out about it",
    "setup": "install a framework into an environment of its own",
    "doctor": "prove by a real step which backends work here",
}
DONE, SOME_FAILED, BAD_USAGE, INTERRUPTED = 0, 1, 2, 130


class Verbs(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in VERBS:
            return None
        command: click.Command = importlib.import_module(f"steptime.cli.{name}").command
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            raise click.UsageError(f"unknown command '{args[0]}'; known: {', '.join(VERBS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


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
