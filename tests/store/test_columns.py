"""One table says what columns there are, and where each is in a record."""

import dataclasses
import typing

import pytest

from steptime.core.schema import Printed, Record
from steptime.store.columns import CONFIGURATION, CONFIGURING, FIGURES, MEASURES, NAMES, RUN_TEXTS, TABLE
from steptime.store.flatten import RAW


def test_names_are_unique_and_every_column_has_a_label():
    assert len(set(NAMES)) == len(TABLE)
    assert all(column.label for column in TABLE)


def test_every_column_is_stored_once():
    assert sorted(NAMES) == sorted(c.name for c in (*CONFIGURATION, *RUN_TEXTS, *FIGURES))


def field_exists(kind, path):
    for name in path.split("."):
        hint = typing.get_type_hints(kind)[name]
        kind = next((a for a in typing.get_args(hint) if dataclasses.is_dataclass(a)), hint)
    return True


@pytest.mark.parametrize("column", [*RUN_TEXTS, *FIGURES], ids=lambda column: column.name)
def test_a_column_of_the_run_is_a_field_outside_of_what_is_decoded_once_for_many_records(column):
    assert field_exists(Record, column.read)
    assert column.read.partition(".")[0] not in RAW
    assert not column.printed or field_exists(Printed, column.printed)


@pytest.mark.parametrize("column", CONFIGURATION, ids=lambda column: column.name)
def test_what_a_column_of_the_configuration_depends_on_exists(column):
    assert all(field_exists(Record, path) for path in column.depends)
    if isinstance(column.read, str) and column.read.partition(".")[0] not in RAW:
        assert column.read in column.depends


def test_measures_are_figures_with_a_direction():
    assert set(MEASURES) <= {column.name for column in FIGURES}
    assert {column.better for column in TABLE} == {"", "higher", "lower"}
    assert not set(MEASURES) & set(CONFIGURING)
