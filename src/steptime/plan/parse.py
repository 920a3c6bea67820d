"""Parses the text of an expression into a tree. Nothing is passed to eval.

expression := conjunction ("or" conjunction)*
conjunction := negation ("and" negation)*
negation := "not" negation | comparison
comparison := sum (("==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not" "in") sum)*
sum := product (("+" | "-") product)*
product := sign (("*" | "/" | "//" | "%") sign)*
sign := "-" sign | atom
atom := number | 'text' | true | false | name ("." name)* | (min | max) "(" items ")" | "[" items "]" | "(" expression ")"
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, NoReturn

from steptime.plan.expression import (
    COMPARISONS,
    FUNCTIONS,
    WORDS,
    Binary,
    Comparison,
    ExpressionError,
    Items,
    Literal,
    Name,
    Node,
    Scalar,
    Unary,
)

LONGEST = 2000
DEEPEST, MOST = 25, 100
"""nested brackets, and operations in total: limits that keep any text from exhausting Python's stack; people write far less"""


class Token(NamedTuple):
    kind: str
    """number | text | name | sign | end"""
    text: str
    column: int


TOKEN = re.compile(
    r"(?P<number>(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<text>'[^'\\]*(?:\\['\\][^'\\]*)*'|\"[^\"\\]*(?:\\[\"\\][^\"\\]*)*\")"
    r"|(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)"
    r"|(?P<sign>==|!=|<=|>=|//|[-+*/%<>()\[\],=])",
    re.ASCII,
)
SPACE = re.compile(r"[ \t\r\n]*")


def tokens(text: str) -> Iterator[Token]:
    position = SPACE.match(text).end()  # type: ignore[union-attr]
    while position < len(text):
        match = TOKEN.match(text, position)
        if not match:
            raise ExpressionError(text, position + 1, f"unexpected {text[position]!r}; put text in quotes")
        yield Token(str(match.lastgroup), match.group(), position + 1)
        position = SPACE.match(text, match.end()).end()  # type: ignore[union-attr]
    yield Token("end", "", len(text) + 1)


def parse(text: str) -> Node:
    if len(text) > LONGEST:
        raise ExpressionError(text, LONGEST, f"an expression has at most {LONGEST} characters")
    return _Parser(text).whole()


class _Parser:
    """Recursive descent: one method per line of the grammar."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(tokens(text))
        self._at = 0
        self._depth = self._operations = 0

    def whole(self) -> Node:
        node = self._either()
        if self._next.kind != "end":
            self._wrong("an operator")
        return node

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _take(self, *signs: str) -> Token | None:
        """The next token if it is one of these, which are words or signs but never text in quotes."""
        token = self._next
        if token.kind not in ("sign", "name") or token.text not in signs:
            return None
        self._at += 1
        return token

    def _wrong(self, wanted: str) -> NoReturn:
        token = self._next
        here = f"'{token.text}'" if token.text else "the end"
        hint = "; equality is ==" if token.text == "=" else ""
        raise ExpressionError(self._text, token.column, f"{wanted} is missing before {here}{hint}")

    def _count(self) -> None:
        self._operations += 1
        if self._operations > MOST:
            problem = f"more than {MOST} operations; a list of values is written: name in [a, b, c]"
            raise ExpressionError(self._text, self._next.column, problem)

    def _inside(self, method: str) -> Node:
        self._depth += 1
        if self._depth > DEEPEST:
            raise ExpressionError(self._text, self._next.column, f"more than {DEEPEST} levels of brackets and signs")
        self._count()
        node: Node = getattr(self, method)()
        self._depth -= 1
        return node

    def _chain(self, signs: Sequence[str], operand: str) -> Node:
        """Left to right."""
        parse_one = getattr(self, operand)
        node: Node = parse_one()
        while sign := self._take(*signs):
            self._count()
            node = Binary(sign.text, node, parse_one(), sign.column)
        return node

    def _either(self) -> Node:
        return self._chain(("or",), "_both")

    def _both(self) -> Node:
        return self._chain(("and",), "_negation")

    def _negation(self) -> Node:
        if sign := self._take("not"):
            return Unary("not", self._inside("_negation"), sign.column)
        return self._comparison()

    def _comparison(self) -> Node:
        column = self._next.column
        first = self._sum()
        rest = []
        while sign := self._compared_by():
            rest.append((sign, self._sum()))
        return Comparison(first, tuple(rest), column) if rest else first

    def _compared_by(self) -> str:
        if self._take("not"):
            if not self._take("in"):
                self._wrong("'in'")
            return "not in"
        sign = self._take(*COMPARISONS)
        return sign.text if sign else ""

    def _sum(self) -> Node:
        return self._chain(("+", "-"), "_product")

    def _product(self) -> Node:
        return self._chain(("*", "/", "//", "%"), "_sign")

    def _sign(self) -> Node:
        if sign := self._take("-"):
            return Unary("-", self._inside("_sign"), sign.column)
        return self._atom()

    def _atom(self) -> Node:
        if bracket := self._take("("):
            node = self._inside("_either")
            self._close(")")
            return node
        if bracket := self._take("["):
            return Items(self._items("]"), "", bracket.column)
        if function := self._take(*FUNCTIONS):
            if not self._take("("):
                self._wrong("'('")
            return Items(self._items(")"), function.text, function.column)
        return self._plain()

    def _items(self, end: str) -> tuple[Node, ...]:
        nodes: list[Node] = []
        while not self._take(end):
            if nodes and not self._take(","):
                self._wrong(f"',' or '{end}'")
            nodes.append(self._item())
        return tuple(nodes)

    def _item(self) -> Node:
        if self._next.kind in ("number", "text") and self._tokens[self._at + 1].text in (",", "]", ")"):
            return self._plain()  # a plain value costs nothing of the limits: lists may be long
        return self._inside("_either")

    def _close(self, end: str) -> None:
        if not self._take(end):
            self._wrong(f"'{end}'")

    def _plain(self) -> Node:
        token = self._next
        if token.kind == "number":
            value: Scalar = self._number(token)
        elif token.kind == "text":
            value = re.sub(r"\\(.)", r"\1", token.text[1:-1])
        elif token.kind == "name" and token.text in ("true", "false"):
            value = token.text == "true"
        elif token.kind == "name" and token.text not in WORDS:
            self._at += 1
            return Name(token.text, token.column)
        else:
            self._wrong("a value")
        self._at += 1
        return Literal(value, token.column)

    def _number(self, token: Token) -> int | float:
        try:
            return int(token.text)
        except ValueError:
            pass
        try:
            value = float(token.text)
        except ValueError:
            value = float("inf")
        if value == float("inf"):
            raise ExpressionError(self._text, token.column, f"'{token.text[:40]}' is not a number")
        return value
