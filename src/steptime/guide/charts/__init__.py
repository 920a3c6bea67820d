"""From figures to Vega-Lite: specifications as templates, the values that fill them, and themes."""
