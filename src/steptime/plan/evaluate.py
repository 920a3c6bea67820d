"""Evaluates an expression for the values of a case.

As Python would have it, but stricter where silence would hide a mistake: a number is never equal to a text, `and`, `or` and
`not` take conditions only. A value that a case does not have (an option of another model, say) makes a comparison untrue.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from steptime.plan.expression import (
    Binary,
    Comparison,
    ExpressionError,
    Items,
    Literal,
    Name,
    Node,
    Scalar,
)

ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
}
ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
Value = Scalar | Sequence["Value"] | None
Lookup = Callable[[str], Value]
"""None: the case has no such value"""


def evaluate(node: Node, lookup: Lookup, text: str = "") -> Value:
    """`text` is what the errors quote."""
    return _Evaluation(lookup, text).value(node)


def condition(node: Node, lookup: Lookup, text: str = "") -> bool:
    return _Evaluation(lookup, text).truth(node)


class _Evaluation:
    def __init__(self, lookup: Lookup, text: str) -> None:
        self._lookup, self._text = lookup, text

    def value(self, node: Node) -> Value:
        if isinstance(node, Binary):
            return self._arithmetic(node) if node.sign in ARITHMETIC else self._junction(node)
        if isinstance(node, Name):
            return self._lookup(node.path)
        if isinstance(node, Literal):
            return node.value
        if isinstance(node, Comparison):
            return self._comparison(node)
        if isinstance(node, Items):
            return self._items(node)
        return not self.truth(node.operand) if node.sign == "not" else -self._number(node.operand)

    def _junction(self, node: Binary) -> bool:
        if node.sign == "and":
            return self.truth(node.left) and self.truth(node.right)
        return self.truth(node.left) or self.truth(node.right)

    def truth(self, node: Node) -> bool:
        value = self.value(node)
        if isinstance(value, bool):
            return value
        if value is None:
            return False
        raise self._problem(node, f"a condition is needed, not {described(value)}")

    def _problem(self, node: Node, message: str) -> ExpressionError:
        return ExpressionError(self._text, node.column, message)

    def _number(self, node: Node) -> int | float:
        return self._numeric(self.value(node), node)

    def _numeric(self, value: Value, node: Node) -> int | float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._problem(node, f"a number is needed, not {described(value)}")
        return value

    def _items(self, node: Items) -> Value:
        if not node.function:
            return [self.value(item) for item in node.items]
        if not node.items:
            raise self._problem(node, f"{node.function} needs at least one value")
        numbers = [self._number(item) for item in node.items]
        return min(numbers) if node.function == "min" else max(numbers)

    def _arithmetic(self, node: Binary) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        if node.sign == "+" and isinstance(left, str) and isinstance(right, str):
            return left + right
        try:
            result: int | float = ARITHMETIC[node.sign](self._numeric(left, node.left), self._numeric(right, node.right))
        except ZeroDivisionError:
            raise self._problem(node, "division by zero") from None
        except OverflowError:
            raise self._problem(node, "the result is too large") from None
        return result

    def _comparison(self, node: Comparison) -> bool:
        left, left_node = self.value(node.first), node.first
        for sign, right_node in node.rest:
            right = self.value(right_node)
            if not self._compare(sign, left, right, left_node, right_node):
                return False
            left, left_node = right, right_node
        return True

    def _compare(self, sign: str, left: Value, right: Value, left_node: Node, right_node: Node) -> bool:
        if sign in ("!=", "not in"):
            return not self._compare("==" if sign == "!=" else "in", left, right, left_node, right_node)
        if left is None or right is None:
            return False
        if sign == "in":
            return self._member(left, right, right_node)
        if isinstance(left, list) or isinstance(right, list):
            raise self._problem(right_node, "compare lists with `in` or `not in`")
        if kind_of(left) != kind_of(right):
            raise self._problem(right_node, f"cannot compare {described(left)} with {described(right)}")
        return ORDER[sign](left, right)

    def _member(self, left: Value, right: Value, right_node: Node) -> bool:
        if isinstance(left, str) and isinstance(right, str):
            return left in right
        if not isinstance(right, list):
            raise self._problem(right_node, f"`in` needs a list in square brackets, not {described(right)}")
        return any(self._compare("==", left, item, right_node, right_node) for item in right)


def kind_of(value: Value) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "condition"
    return "number" if isinstance(value, int | float) else "text" if isinstance(value, str) else "list"


def described(value: Value) -> str:
    if value is None:
        return "a value that this case does not have"
    if isinstance(value, bool):
        return str(value).lower()
    return "a list" if isinstance(value, list) else f"the {kind_of(value)} '{str(value)[:40]}'"
