"""The small language of conditions and derived values: its trees."""

from __future__ import annotations

from dataclasses import dataclass, field

from steptime.core.errors import UsageError

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=", "in", "not in")
FUNCTIONS = ("min", "max")
WORDS = ("and", "or", "not", "in", "true", "false", *FUNCTIONS)

Scalar = int | float | bool | str


@dataclass(frozen=True)
class Literal:
    value: Scalar
    column: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Name:
    path: str
    column: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Items:
    """A list, or with a function the arguments of it."""

    items: tuple[Node, ...]
    function: str = ""
    column: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Unary:
    """not, -"""

    sign: str
    operand: Node
    column: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Binary:
    """and, or, arithmetic"""

    sign: str
    left: Node
    right: Node
    column: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Comparison:
    """a < b < c, as in mathematics and Python."""

    first: Node
    rest: tuple[tuple[str, Node], ...]
    column: int = field(default=0, compare=False)


Node = Literal | Name | Items | Unary | Binary | Comparison


class ExpressionError(UsageError):
    def __init__(self, text: str, column: int, problem: str) -> None:
        shown = text if len(text) <= 80 else text[:77] + "..."
        message = f'"{shown}", column {column}: {problem}'
        super().__init__("".join(c if c.isprintable() else " " for c in message))


def names(node: Node) -> list[Name]:
    """Every name in it, in the order of the text."""
    if isinstance(node, Name):
        return [node]
    if isinstance(node, Items):
        return [name for item in node.items for name in names(item)]
    if isinstance(node, Unary):
        return names(node.operand)
    if isinstance(node, Binary):
        return names(node.left) + names(node.right)
    if isinstance(node, Comparison):
        return names(node.first) + [name for _, right in node.rest for name in names(right)]
    return []
