from steptime.guide.charts.spec_template import fill, slot, unless, when


def test_values_go_into_holes_and_other_holes_stay_open_for_somebody_else():
    form = {"width": slot("width"), "sort": [slot("xs"), "last"]}
    assert fill(form, {"xs": ["a", "b"]}) == {"width": {"$": "width"}, "sort": [["a", "b"], "last"]}
    assert fill(fill(form, {"xs": []}), {"width": None}) == {"width": None, "sort": [[], "last"]}


def test_a_choice_that_is_not_taken_leaves_neither_key_nor_element():
    form = {"axis": when("few", {"values": slot("xs")}), "layer": [when("bars", "bar"), unless("bars", "dot")]}
    assert fill(form, {"few": False, "bars": True}) == {"layer": ["bar"]}
    assert fill(form, {"few": True, "bars": False, "xs": [1]}) == {"axis": {"values": [1]}, "layer": ["dot"]}


def test_choices_nest_and_may_be_left_open():
    form = when("named", when("many", "both", "one"), 0)
    assert fill(form, {"named": True, "many": False}) == "one"
    assert fill(form, {"named": False}) == 0
    assert fill(form, {"many": True}) == {"$if": "named", "then": "both", "else": 0}


def test_what_is_put_in_is_data_and_not_searched_for_holes():
    assert fill({"values": slot("rows")}, {"rows": [{"$": "secret"}], "secret": 1}) == {"values": [{"$": "secret"}]}
