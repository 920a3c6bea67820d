"""Comparison of figures."""
