import pytest

from steptime import guide


def test_the_address_of_a_view_and_its_arguments_ask_the_same(results, tmp_path):
    opened = guide.open(results)
    drawn = opened.chart(
        x="precision", group="model", agg="mean", filters={"framework": "PyTorch"}, series={"a": {"replicas": [1]}}
    )
    assert opened.ask(f"http://localhost/guide?{drawn.answer.view.query()}") == drawn
    drawn.save(tmp_path / "out.csv")
    assert "a, alexnet" in (tmp_path / "out.csv").read_text()


def test_a_notebook_gets_a_chart_and_a_picture(results):
    bundle = guide.open(results).chart(x="model")._repr_mimebundle_()
    assert bundle["application/vnd.vegalite.v5+json"]["data"]["values"]
    assert bundle["image/png"].startswith(b"\x89PNG")
    with pytest.raises(Exception, match="unknown argument 'ex'"):
        guide.open(results).chart(ex="model")
