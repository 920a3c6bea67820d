"""Experiments: from a plan file or options to a list of cases."""
