from steptime.importing.outliers import Figure, figure_of, outliers

GROUP = ("resnet50", "training", "Tesla V100", "fp16", "", "", "samples/s")
ROW = {
    "model": "resnet50", "phase": "training", "device": "Tesla V100", "precision": "fp16", "image_size": None, "part": None,
    "unit": "samples/s", "replicas": 1, "throughput": 700.0, "batch_time_ms": 91.4,
}  # fmt: skip


def figures(*values, name="a"):
    return [Figure(GROUP, value, f"{name}:{line}") for line, value in enumerate(values, start=1)]


def test_a_figure_a_hundred_times_off_is_reported_with_both():
    assert list(outliers(figures(700.0, 710.0, 720.0, 7.0))) == [
        "a:4: resnet50 training Tesla V100 fp16: 7 samples/s is a hundred times off 710 samples/s in a:2, the middle of 3 others"
    ]
    (sentence,) = outliers(figures(48.0, 48.5, 49.0, 4900.0))
    assert sentence.startswith("a:4:") and "4,900 samples/s" in sentence and "48.5 samples/s in a:2" in sentence


def test_of_two_there_is_one_sentence_since_either_may_be_wrong():
    (sentence,) = outliers(figures(48.0, 4800.0))
    assert "48 samples/s" in sentence and "4,800 samples/s" in sentence


def test_what_is_less_than_a_hundred_times_off_is_not_reported():
    assert list(outliers(figures(7.1, 700.0, 709.0))) == []
    assert list(outliers(figures(1.0))) == []


def test_other_models_devices_and_precisions_are_no_neighbours():
    other = Figure(("resnet18", *GROUP[1:]), 7.0, "b:1")
    assert list(outliers([*figures(700.0, 701.0), other])) == []


def test_figures_of_the_store_are_compared_with_and_not_reported():
    (sentence,) = outliers(figures(7.0), figures(700.0, 710.0, 1.0, name="record x"))
    assert sentence.startswith("a:1:") and "record x:1" in sentence


def test_a_speed_counts_for_each_device_and_a_time_where_there_is_no_speed():
    assert figure_of(ROW | {"replicas": 8, "throughput": 5600.0}, "a") == Figure(GROUP, 700.0, "a")
    assert figure_of(ROW | {"throughput": None}, "a") == Figure((*GROUP[:-1], "ms"), 91.4, "a")
    assert figure_of(ROW | {"unit": "tokens/s"}, "a").group[-1] == "tokens/s"


def test_without_model_or_device_there_is_nothing_to_compare_with():
    assert figure_of(ROW | {"model": ""}, "a") is None and figure_of(ROW | {"device": "GPU"}, "a") is None
    assert figure_of(ROW | {"throughput": None, "batch_time_ms": None}, "a") is None
