"""The guide's engine: one store, asked by views. Safe from many threads: an answer comes from one snapshot of the index."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from steptime.core.schema import Record
from steptime.guide.kinds.base import kind
from steptime.guide.query import alike, facets, runs
from steptime.guide.query.results import Facet, RunList
from steptime.guide.view.view import View
from steptime.store.files import Damaged, Store
from steptime.store.parquet_index import ParquetIndex
from steptime.store.snapshot import Snapshot


class Guide:
    def __init__(self, store: Store) -> None:
        self.store = store
        self._segments = ParquetIndex(store)
        self._turn = threading.Lock()
        self._snapshot: Snapshot | None = None

    def refresh(self) -> bool:
        """Takes in new record files; whether answers may differ from now on. Cheap when nothing is new."""
        with self._turn:
            changed = self._segments.refresh()
            if changed or self._snapshot is None:
                self._snapshot = Snapshot.of(self._segments)
            return changed

    def adopt(self, segments: ParquetIndex) -> None:
        """Answers from an index as it is, without looking at record files."""
        self._segments, self._snapshot = segments, Snapshot.of(segments)

    @property
    def damaged(self) -> Sequence[Damaged]:
        """Files that the last refresh could not read, and why."""
        return self._segments.damaged

    @property
    def snapshot(self) -> Snapshot:
        if self._snapshot is None:
            self.refresh()
        assert self._snapshot
        return self._snapshot

    @property
    def version(self) -> str:
        return self.snapshot.version

    @property
    def size(self) -> int:
        """How many runs there are."""
        return self.snapshot.rows

    def answer(self, view: View) -> Any:
        """What the view's kind answers: a frozen dataclass, which has the view."""
        return kind(view.kind).answer(self, view)

    def alike(self, view: View) -> View:
        """The view with the filters that make its points comparable."""
        return alike.alike(self.snapshot, view)

    def facets(self, view: View, names: Sequence[str] | None = None) -> list[Facet]:
        """Of the dimensions that tell runs apart, or of those that are named."""
        return facets.facets(self.snapshot, view, names)

    def labels(self) -> list[str]:
        """The names of all labels, as dimensions."""
        return facets.label_names(self.snapshot)

    def runs(self, view: View, limit: int = 100, offset: int = 0) -> RunList:
        """The runs behind a view of any kind, some at a time."""
        return runs.runs(self.snapshot, view, limit, offset)

    def record(self, identity: str) -> Record:
        """One run, whole."""
        return runs.record(self.snapshot, self.store, identity)

    def records(self, identities: list[str]) -> dict[str, Record]:
        """Those of these that there are."""
        return runs.records(self.snapshot, self.store, identities)

    def columns(self) -> dict[str, list[Any]]:
        """All index columns, for the single-file report."""
        return runs.columns(self.snapshot)
