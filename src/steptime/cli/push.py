"""`steptime push`: send records to a guide on another machine."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from steptime.cli.list import selected
from steptime.cli.options import json_option, open_store, store_option
from steptime.core.errors import SteptimeError, UsageError

if TYPE_CHECKING:
    from steptime.core.schema import Record
    from steptime.guide.sharing.upload_format import Receipt
    from steptime.store.files import Store

MAX_NAMED = 20


@click.command("push")
@click.argument("url", metavar="URL")
@click.option("--token", default="", help="The guide's token.  [default: $STEPTIME_TOKEN, or that in the URL]")
@click.option("--token-file", type=click.Path(), help="A file that holds the token, so that no process list shows it.")
@click.option("--where", "-w", "filters", multiple=True, metavar="COLUMN=V,..", help="Only rows with one of these values.")
@click.option("--last", type=int, default=0, metavar="N", help="Only the newest N.")
@json_option
@store_option
def command(
    url: str, token: str, token_file: str | None, filters: tuple[str, ...], last: int, as_json: bool, store_path: str | None
) -> int:
    """Send records to a guide that was started with --accept, here or on another machine.

    URL is what the guide printed. Records are sent with their steps and logs. Those that the guide has already are left as they
    are, so the same command continues where it was interrupted; a record that differs from one of the same id is refused.
    """
    from steptime.guide.sharing.push import push, target_of

    store = open_store(store_path)
    target = target_of(url, _token(token, token_file, url))
    ids = [row["id"] for row in selected(store_path, filters, last)]
    if not ids:
        raise UsageError(f"no records to send in {store.root}")
    receipts: list[Receipt] = []
    problem = ""
    try:
        push(target, store, _records(store, set(ids)), receipts.append)
    except SteptimeError as error:
        problem = str(error)
    sent = sum(r.stored + r.known + len(r.refused) for r in receipts)
    _print_receipts(receipts, target.url, len(ids), as_json)
    if problem:
        so_far = f"; {sent:,} of {len(ids):,} records were sent, and the same command continues from there" if sent else ""
        raise UsageError(problem + so_far)
    return 1 if any(r.refused for r in receipts) else 0


def _token(option: str, file: str | None, url: str) -> str:
    import os

    if option and file:
        raise UsageError("give either --token or --token-file, not both")
    if file:
        try:
            return Path(file).read_text().strip()
        except (OSError, UnicodeDecodeError) as problem:
            raise UsageError(f"cannot read {file}: {getattr(problem, 'strerror', None) or 'not text'}") from None
    return option or ("" if "token=" in url else os.environ.get("STEPTIME_TOKEN", ""))


def _records(store: Store, wanted: set[str]) -> Iterator[Record]:
    """Each once, a file at a time."""
    for path in store.paths():
        for record in store.load(path)[0]:
            if record.id in wanted:
                wanted.discard(record.id)
                yield record


def _print_receipts(receipts: list[Receipt], url: str, count: int, as_json: bool) -> None:
    refused = [r for receipt in receipts for r in receipt.refused]
    stored, known, logs = (sum(getattr(r, name) for r in receipts) for name in ("stored", "known", "logs"))
    for refusal in refused[:MAX_NAMED]:
        print(f"steptime: {refusal.id or 'a record'} was refused: {refusal.reason}", file=sys.stderr)
    if len(refused) > MAX_NAMED:
        print(f"steptime: and {len(refused) - MAX_NAMED} more", file=sys.stderr)
    if as_json:
        reasons = [{"id": r.id, "reason": r.reason} for r in refused]
        summary = {"url": url, "records": count, "stored": stored, "known": known, "logs": logs, "refused": reasons}
        print(json.dumps(summary))
    elif receipts:
        counts = [f"{stored:,} new", f"{known:,} already there"] + ([f"{len(refused):,} refused"] if refused else [])
        print(f"{url}: {', '.join(counts)}")
