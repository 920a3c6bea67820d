import json
import math

from tests.guide import golden


def same(found, expected) -> bool:
    """Equal, figures to ten digits: sums may be added up in another order."""
    if isinstance(expected, float) or isinstance(found, float):
        return isinstance(found, (int, float)) and expected is not None and math.isclose(found, expected, rel_tol=1e-10)
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(same(found[k], expected[k]) for k in expected)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(same, found, expected))
    return found == expected


def test_the_engine_gives_the_golden_answers():
    expected, found = json.loads(golden.FILE.read_text()), json.loads(golden.text(golden.made()))
    assert same(found["rows"], expected["rows"])
    wrong = [case["query"] for case, right in zip(found["cases"], expected["cases"], strict=True) if not same(case, right)]
    assert not wrong, "if the change is meant: python -m tests.guide.golden"
