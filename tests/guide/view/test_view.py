import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.core.errors import UsageError
from steptime.guide.kinds.base import names
from steptime.guide.view import notation
from steptime.guide.view.dimensions import DIMENSIONS, MEASURES, Dimension, dimension, in_order
from steptime.guide.view.view import AGGREGATIONS, Series, View, checked

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)
NAME = TEXT.map(str.strip).filter(bool)
DIMENSION = st.one_of(st.sampled_from(sorted(DIMENSIONS)), st.sampled_from(["label.site", "label.price_per_hour"]))
NUMBERS = st.one_of(
    st.integers(0, 10**6).map(str), st.tuples(st.integers(0, 99), st.integers(0, 99)).map(lambda t: f"{t[0]}..{t[1]}")
)
VALUES = {"number": NUMBERS, "date": st.sampled_from(["2026-11-16", "2026", "2026-01..2026-06", "..2026"]), "text": TEXT}


def some(name: str):
    return st.lists(VALUES[dimension(name).kind], min_size=1, max_size=3, unique=True)


PAIR = DIMENSION.flatmap(lambda name: st.tuples(st.just(name), some(name)))
FILTERS = st.lists(PAIR, max_size=3).map(notation.canonical)
SERIES = st.lists(st.builds(Series, NAME, FILTERS), max_size=3, unique_by=lambda s: s.name).map(tuple)


@st.composite
def views(draw) -> View:
    x = draw(DIMENSION)
    of = dimension(x)
    singles = st.lists(VALUES[of.kind].filter(lambda v: not notation.ends(of, v)), max_size=3, unique=True)
    return checked(
        View(
            kind=draw(st.sampled_from([k for k in names() if k != "scaling"])),
            x=x,
            y=draw(st.sampled_from(sorted(MEASURES))),
            group=tuple(draw(st.lists(DIMENSION, max_size=3, unique=True))),
            facet=draw(st.one_of(st.just(""), DIMENSION)),
            agg=draw(st.sampled_from(AGGREGATIONS)),
            scaling=draw(st.sampled_from(["weak", "strong"])),
            log=draw(st.sampled_from(["", "x", "y", "xy"])),
            baseline=draw(TEXT),
            range=tuple(draw(singles)),
            contended=draw(st.booleans()),
            series=draw(SERIES),
            filters=draw(FILTERS),
            runs=tuple(draw(st.lists(NAME, max_size=3, unique=True))),
        )
    )


@given(views())
def test_an_address_restores_exactly_the_view_it_was_made_from(view):
    query = view.query()
    assert View.parse(query) == view
    assert View.parse(query).query() == query


@given(st.lists(TEXT, min_size=1, max_size=4))
def test_lists_of_any_text_survive_being_written(values):
    assert notation.values_of(notation.value_text(values)) == tuple(values)


def test_the_default_view_has_an_empty_address():
    assert View().query() == ""
    assert View.parse("") == View()


def test_the_order_of_parameters_and_of_filter_values_does_not_matter():
    one = View.parse("?y=throughput&precision=fp16,fp32&framework=pytorch&x=model")
    two = View.parse("framework=pytorch&precision=fp32&precision=fp16")
    assert one == two
    assert one.query() == "framework=pytorch&precision=fp16,fp32"


def test_commas_inside_parentheses_belong_to_the_value():
    assert notation.values_of("mlp(layers=4,width=8),lenet") == ("mlp(layers=4,width=8)", "lenet")
    view = View.of(filters={"model": "mlp(layers=4,width=8)"})
    assert view.query() == "model=mlp(layers=4,width=8)"
    assert View.parse(view.query()) == view


def test_an_equals_sign_may_be_part_of_a_value():
    assert notation.filters_of("label.flags=-O=2") == (("label.flags", ("-O=2",)),)
    assert notation.filters_of(r"label.flags=fast,-O\=2") == (("label.flags", ("-O=2", "fast")),)
    assert notation.filters_of("model=lenet,mlp(layers=4,width=8)") == (("model", ("lenet", "mlp(layers=4,width=8)")),)
    view = View.of(filters={"label.flags": ["fast", "-O=2", "a,b=c"]})
    assert View.parse(view.query()) == view
    with pytest.raises(UsageError, match=r"'-O=2' is not a value of label.flags: .* is written '\\='"):
        notation.filters_of("label.flags=fast,-O=2")


def test_a_series_has_a_name_and_filters_of_its_own():
    view = View.parse("series=new: software=pytorch 2.13; precision=bf16,fp16&series=old: software=pytorch 1.9")
    assert view.series[0] == Series("new", (("precision", ("bf16", "fp16")), ("software", ("pytorch 2.13",))))
    assert view.series[1].name == "old"


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("x=modle", "unknown dimension 'modle' (did you mean model?); known: architecture"),
        ("y=thruput", "unknown measure 'thruput'"),
        ("agg=avg", "unknown aggregation 'avg'; known: best, max, mean, median, min"),
        ("scaling=both", "unknown scaling 'both'; known: strong, weak"),
        ("log=z", "unknown log axis 'z'"),
        ("view=pie", "unknown view 'pie'"),
        ("nonsense=1", "unknown parameter 'nonsense'"),
        ("x=model&x=phase", "'x' is given twice"),
        ("threads=two", "threads is a number, such as 32 or 8..64; got 'two'"),
        ("date=yesterday", "date is a date"),
        ("contended=yes", "contended is 0 or 1; got 'yes'"),
        ("series=noname", "a series is written NAME: DIMENSION=VALUE"),
        ("series=a: b=1", "unknown dimension 'b'"),
        ("series=a: &series=a: ", "series need different names"),
        ("group=model,model", "group takes one to 3 different dimensions"),
        ("label.a b=1", "'label.a b' is no label"),
        ("x=threads&range=1..2,4", "range is either one 'LOW..HIGH' or a list"),
        ("model=%ff", "not a query string"),
        ("model=" + "a" * 30_000, "not a view"),
        ("model=" + "a" * 600, "longer than 500 characters"),
        ("phase=training,precision=fp16", "two filters are written 'phase=training&precision=fp16'; after a comma"),
        ("series=a: phase=training, precision=fp16", "two filters are written 'phase=training; precision=fp16'"),
        ("&".join(f"model={i}" for i in range(300)), "not a query string"),
    ],
)
def test_a_bad_address_is_told_in_one_line_with_what_would_be_valid(query, words):
    with pytest.raises(UsageError) as caught:
        View.parse(query)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.text(max_size=60))
def test_whatever_an_address_says_it_is_a_view_or_a_usage_error(query):
    try:
        view = View.parse(query)
    except UsageError:
        return
    assert View.parse(view.query()) == view


def test_the_scaling_view_is_over_the_number_of_devices():
    assert View.parse("view=scaling&x=model").x == "replicas"


def test_batch_means_what_the_scaling_says():
    assert View(scaling="weak").resolved("batch") == "replica_batch"
    assert View(scaling="strong").resolved("batch") == "effective_batch"
    assert View().resolved("model") == "model"


def test_values_are_ordered_as_people_expect_them():
    assert in_order(dimension("precision"), ["int8", "fp16", "posit8", "fp32"]) == ["fp32", "fp16", "int8", "posit8"]
    assert in_order(dimension("label.n"), ["10", "9", "2e1"]) == ["9", "10", "2e1"]
    assert in_order(Dimension("d", "d"), ["b", "A", "10"]) == ["10", "A", "b"]
