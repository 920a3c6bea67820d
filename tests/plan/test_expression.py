"""The language of conditions and derived values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.core.errors import UsageError
from steptime.plan.evaluate import evaluate
from steptime.plan.expression import FUNCTIONS, Binary, Comparison, Items, Literal, Name, Node, Scalar, Unary, names
from steptime.plan.parse import parse

VALUES = {"batch": 64, "devices": 4, "model": "resnet50", "labels.site": "picotte", "sleep": True, "rate": 0.5}


def value(text: str) -> object:
    return evaluate(parse(text), VALUES.get, text)


numbers = st.one_of(st.integers(0, 10**9).map(Literal), st.floats(0, 1e6).map(Literal))
texts = st.text(max_size=8).map(Literal)
names_ = st.sampled_from(["batch", "devices", "labels.site", "model_options.layers"]).map(Name)


def trees(children):
    signs = st.sampled_from(["and", "or", "+", "-", "*", "/", "//", "%"])
    compared = st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "in", "not in"])
    lists = st.lists(children, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Binary, signs, children, children),
        st.builds(Unary, st.sampled_from(["not", "-"]), children),
        st.builds(Comparison, children, st.lists(st.tuples(compared, children), min_size=1, max_size=3).map(tuple)),
        st.builds(Items, lists, st.sampled_from(["", *FUNCTIONS])),
    )


def write(node: Node) -> str:
    """The text of a tree; parsing it gives the same tree."""
    if isinstance(node, Literal):
        return _literal(node.value)
    if isinstance(node, Name):
        return node.path
    if isinstance(node, Items):
        items = ", ".join(map(write, node.items))
        return f"{node.function}({items})" if node.function else f"[{items}]"
    if isinstance(node, Unary):
        return f"{node.sign} {_operand(node.operand)}" if node.sign == "not" else f"-{_operand(node.operand)}"
    if isinstance(node, Binary):
        return f"{_operand(node.left)} {node.sign} {_operand(node.right)}"
    return " ".join([_operand(node.first), *(f"{sign} {_operand(right)}" for sign, right in node.rest)])


def _operand(node: Node) -> str:
    return write(node) if isinstance(node, Literal | Name | Items) else f"({write(node)})"


def _literal(value: Scalar) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return repr(value)


@given(st.recursive(st.one_of(numbers, texts, names_, st.booleans().map(Literal)), trees, max_leaves=12))
def test_the_text_of_a_tree_parses_to_the_same_tree(tree):
    assert parse(write(tree)) == tree


@given(st.one_of(st.text(), st.text(alphabet="()[]<>=!+-*/%,.'\"0123456789abn _\\torin"), st.text("(-[not '1", max_size=3000)))
def test_any_text_gives_a_value_or_a_usage_error(text):
    try:
        value(text)
    except UsageError as problem:
        message = str(problem)
    else:
        return
    assert message.isprintable() and "column" in message


@pytest.mark.parametrize(
    "text",
    ["(" * 1500, "not " * 400 + "true", "-" * 1900 + "1", "1" + "+1" * 900, "((1+1)+1)" * 200, "1e999", "[" * 99, "9" * 2001],
)
def test_hostile_texts_are_refused_in_one_line(text):
    with pytest.raises(UsageError):
        value(text)


def test_a_long_list_of_plain_values_is_fine():
    assert value(f"batch in [{', '.join(map(str, range(300)))}]") is True


arithmetic = st.recursive(
    st.sampled_from(["batch", "devices", "rate", "3", "7", "0.25", "1e3"]),
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(["+", "-", "*", "/", "//", "%"]), inner),
        st.builds("-{}".format, inner),
        st.builds("{}({}, {})".format, st.sampled_from(["min", "max"]), inner, inner),
    ),
    max_leaves=6,
)
sums = st.builds("{} {} {} {} {}".format, arithmetic, st.sampled_from("+-*/%"), arithmetic, st.sampled_from("+-*/%"), arithmetic)
conditions = st.recursive(
    st.one_of(
        st.builds("{} {} {}".format, sums, st.sampled_from(["<", "<=", "==", "!=", ">", ">="]), sums),
        st.builds("{} < {} <= {}".format, arithmetic, arithmetic, arithmetic),
        st.sampled_from(["model == 'resnet50'", "model in ['vgg16', 'mlp']", "'net' in model", "batch not in [1, 64]"]),
    ),
    lambda inner: st.one_of(
        st.builds("{} {} {}".format, inner, st.sampled_from(["and", "or"]), inner),
        st.builds("not ({})".format, inner),
        st.builds("not {} or {}".format, inner, inner),
    ),
    max_leaves=5,
)


@given(st.one_of(arithmetic, sums, conditions))
def test_values_agree_with_python(text):
    try:
        expected = eval(text, {"min": min, "max": max}, VALUES)
    except (ZeroDivisionError, OverflowError):
        with pytest.raises(UsageError):
            value(text)
        return
    found = value(text)
    assert found == expected or (found != found and expected != expected)
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("model = 'a'", 7, "equality is =="),
        ("batch > 'x'", 9, "cannot compare the number '64' with the text 'x'"),
        ("model == 'a' or 'b'", 17, "a condition is needed, not the text 'b'"),
        ("batch in 64", 10, "a list in square brackets"),
        ("batch / (devices - 4)", 7, "division by zero"),
        ("batch >", 8, "a value is missing before the end"),
        ("(batch", 7, "')' is missing"),
        ("batch ; 1", 7, "unexpected ';'"),
        ("model + 1", 1, "a number is needed, not the text 'resnet50'"),
        ("batch not 3", 11, "'in' is missing"),
        ("min()", 1, "min needs at least one value"),
        ("model == 'abc", 10, "put text in quotes"),
    ],
)
def test_errors_name_the_column_and_the_remedy(text, column, words):
    with pytest.raises(UsageError, match=f"column {column}: ") as problem:
        value(text)
    assert words in str(problem.value)


def test_a_value_that_a_case_does_not_have_makes_comparisons_untrue():
    assert value("model_options.layers > 4") is False
    assert value("model_options.layers == 4") is False
    assert value("model_options.layers != 4") is True
    assert value("model_options.layers in [4]") is False
    with pytest.raises(UsageError, match="does not have"):
        value("model_options.layers + 1")


def test_names_are_found_wherever_they_stand():
    tree = parse("min(batch, 2) in [devices] and not -rate < labels.site")
    assert [name.path for name in names(tree)] == ["batch", "devices", "rate", "labels.site"]
