"""What the scripts need to know that Python knows: names, orders and limits, which are therefore not written again there."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from steptime.analysis.comparison import MARGIN, UNMISTAKABLE
from steptime.core.schema import FAILURES
from steptime.guide.kinds import chart, compare, coverage, runs, scaling
from steptime.guide.kinds.base import Kind, kind, names
from steptime.guide.query import configurations, facets, filter_sql, measure_sql, points, warning_codes, warnings
from steptime.guide.view import notation, view
from steptime.guide.view.dimensions import DIMENSIONS, LABEL_NAME, LABEL_PREFIX, MEASURES, PRICE_LABEL, STORED_MEASURES
from steptime.store.columns import COLUMNS, CONFIGURING, FIGURES, Column


def _kind(of: Kind[Any]) -> dict[str, Any]:
    return {
        "parameters": of.parameters,
        "fixed": dict(of.fixed),
        "suffixes": of.suffixes,
        "columns": of.columns,
        "page_draws": of.page_draws,
        "texts": {name: asdict(text) for name, text in of.texts.items()},
    }


def _column(column: Column) -> dict[str, Any]:
    return {
        "name": column.name,
        "title": column.title,
        "form": column.form,
        "number": column.kind == "number",
        "figure": column in FIGURES,
    }


def facts() -> dict[str, Any]:
    return {
        "dimensions": [asdict(d) for d in DIMENSIONS.values()],
        "measures": [asdict(m) for m in MEASURES.values()],
        "stored_measures": STORED_MEASURES,
        "configuration": CONFIGURING,
        "run_table": [_column(COLUMNS[name]) for name in runs.SHOWN],
        "of_runs": filter_sql.RUN_COLUMNS,
        "matching": measure_sql.MATCHING,
        "growing": measure_sql.GROWING,
        "mixing": configurations.MIXING,
        "follows": configurations.FOLLOWS,
        "kinds_of_work": configurations.KINDS_OF_WORK,
        "not_averaged": configurations.NOT_AVERAGED,
        "averages": configurations.AVERAGES,
        "growing_devices": configurations.DEVICES,
        "scaling_mixes": scaling.MIXED,
        "implied": facets.IMPLIED,
        "compared": compare.KEYS,
        "telling": compare.TELLING,
        "unfolded": facets.UNFOLDED,
        "scaled": scaling.SCALED,
        "sections": {name: COLUMNS[name].section for name in CONFIGURING},
        "label_prefix": LABEL_PREFIX,
        "label_name": LABEL_NAME.pattern,
        "price_label": PRICE_LABEL,
        "view": asdict(view.View()),
        "parameters": view.PARAMETERS,
        "aggregations": view.AGGREGATIONS,
        "failures": FAILURES,
        "kinds": {name: _kind(kind(name)) for name in names()},
        "verdicts": {f"{change} {better}": word for (change, better), word in compare.VERDICTS.items()},
        "plurals": warnings.PLURALS,
        "notation": {code: asdict(text) for code, text in notation.TEXTS.items()},
        "warnings": {code: asdict(text) for code, text in warning_codes.TEXTS.items()},
        "mixed_verbs": {agg: asdict(text) for agg, text in warning_codes.MIXED_VERBS.items()},
        "nothing": filter_sql.NOTHING,
        "margin": MARGIN,
        "unmistakable": UNMISTAKABLE,
        "samples": chart.SAMPLES,
        "limits": {
            "cells": points.MOST_CELLS,
            "facets": warnings.MOST_FACETS,
            "values": facets.MOST_VALUES,
            "labels": facets.MOST_LABELS,
            "matrix": coverage.MOST,
            "lines": scaling.MOST_LINES,
            "warning_values": warnings.MOST_VALUES,
            "above_ideal": warnings.ABOVE_IDEAL,
            "ids": compare.MOST_IDS,
        },
    }
