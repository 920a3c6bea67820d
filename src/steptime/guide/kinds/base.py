"""What a kind of view is, and how kinds are found: one file each in this folder, by its name, imported on first use.

A kind's file has `KIND`, an object of a class that extends `Kind`; its page is web/kinds/NAME.js. CONTRIBUTING walks through
adding one.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from steptime.core.errors import UnknownName
from steptime.guide.charts.spec_template import Spec, fill
from steptime.guide.charts.theme import theme_values
from steptime.guide.query.results import plain
from steptime.guide.view.texts import Text

if TYPE_CHECKING:
    from steptime.guide.engine import Guide
    from steptime.guide.view.view import View

PICTURES = ("svg", "png", "pdf")
CHARTS = (*PICTURES, "vl.json")
TABLES = ("csv", "json")
A = TypeVar("A")


class Kind(ABC, Generic[A]):
    """One kind of view. Answers are frozen dataclasses with a field `view`, so that an answer knows its kind."""

    parameters: tuple[str, ...] = ()
    """which parameters of an address it understands, besides filters"""
    fixed: Mapping[str, str] = {}
    """parameters that have one value only"""
    suffixes: tuple[str, ...] = (*CHARTS, *TABLES)
    """the files that an answer can be saved as"""
    columns: tuple[str, ...] = ()
    """of the table that an answer can be printed and saved as"""
    texts: Mapping[str, Text] = {}
    """its sentences that the script for reports writes too"""
    page_draws = False
    """whether the page shows the chart; else it shows a table of its own"""

    @abstractmethod
    def answer(self, guide: Guide, view: View) -> A:
        """What the view asks for."""

    @abstractmethod
    def title(self, answer: A) -> str:
        """What the answer is called, above charts and pages."""

    def subtitle(self, answer: A) -> str:
        """What its figures are."""
        return ""

    @abstractmethod
    def items(self, answer: A) -> Sequence[Any]:
        """The answer part by part, one line of JSON each."""

    @abstractmethod
    def rows(self, answer: A) -> list[dict[str, Any]]:
        """The answer as rows that have at least the columns; a missing figure is None, never 0."""

    def template(self) -> Spec:
        """The chart, with slots for what an answer, a size and a theme say. Only of kinds that have a chart."""
        raise NotImplementedError

    def values(self, answer: A) -> dict[str, Any]:
        """What the answer puts into the template."""
        raise NotImplementedError

    def size(self, answer: A) -> dict[str, Any]:
        """The size of a chart where nobody chooses one."""
        return {}

    def too_large(self, answer: A) -> str:
        """Why no picture is made of it on behalf of somebody else; empty if it is."""
        return ""

    def open_spec(self, answer: A) -> Spec:
        """The chart but for its size and theme."""
        return fill(self.template(), self.values(answer))  # type: ignore[no-any-return]

    def spec(self, answer: A, theme: str = "light", **layout: Any) -> Spec:
        """The chart, complete."""
        usual = {"titled": True, "fitted": False, **self.size(answer)}
        return fill(self.open_spec(answer), {**theme_values(theme), **usual, **layout})  # type: ignore[no-any-return]

    def for_page(self, guide: Guide, view: View) -> dict[str, Any]:
        """What the page is sent, ready for JSON; the size and the theme of the chart are the reader's."""
        answer = self.answer(guide, view)
        content = {"answer": plain(answer), "title": self.title(answer), "subtitle": self.subtitle(answer)}
        return {**content, "spec": self.open_spec(answer)} if self.page_draws else content


@functools.cache
def names() -> tuple[str, ...]:
    """Of all files here but this one."""
    import steptime.guide.kinds as package

    return tuple(sorted(module.name for module in pkgutil.iter_modules(package.__path__) if module.name != "base"))


@functools.cache
def kind(name: str) -> Kind[Any]:
    if name not in names():
        raise UnknownName("view", name, names())
    return importlib.import_module(f"steptime.guide.kinds.{name}").KIND  # type: ignore[no-any-return]


def kind_of(answer: Any) -> Kind[Any]:
    return kind(answer.view.kind)
