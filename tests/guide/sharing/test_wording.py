import shlex

import pytest
from hypothesis import given, settings

from steptime import guide
from steptime.cli.chart import _view as view_of_command
from steptime.cli.chart import command
from steptime.guide.sharing.wording import as_command, as_python, as_url
from steptime.guide.view.view import View
from tests.guide.view.test_view import views


@pytest.mark.slow
@settings(max_examples=25)
@given(views().filter(lambda v: v.kind not in ("run", "compare") and not v.runs))
def test_the_command_of_a_view_asks_the_same(view):
    words = shlex.split(as_command(view))
    assert words[:2] == ["steptime", "chart"]
    said = command.make_context("chart", words[2:], help_option_names=["-h", "--help"]).params
    for name in ("output", "theme", "as_json", "store_path", "url"):
        said.pop(name)
    assert view_of_command(**said) == view


@given(views())
def test_the_address_of_a_view_asks_the_same(view):
    assert View.parse(as_url(view).partition("?")[2]) == view


def test_the_python_of_a_view_runs_and_asks_the_same(results, tmp_path):
    view = View.of(x="precision", group="model", agg="mean", filters={"framework": "PyTorch"}, series={"a": {"replicas": [1]}})
    text = as_python(view, str(results))
    assert text.startswith("from steptime import guide")
    drawn = eval(text.splitlines()[-1], {"guide": guide})
    assert drawn.answer.view == view
    drawn.save(tmp_path / "out.csv")
    assert "a, alexnet" in (tmp_path / "out.csv").read_text()


def test_a_notebook_gets_a_chart_and_a_picture(results):
    bundle = guide.open(results).chart(x="model")._repr_mimebundle_()
    assert bundle["application/vnd.vegalite.v5+json"]["data"]["values"]
    assert bundle["image/png"].startswith(b"\x89PNG")
    with pytest.raises(Exception, match="unknown argument 'ex'"):
        guide.open(results).chart(ex="model")
