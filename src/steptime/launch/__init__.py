"""Starts workers and survives whatever happens to them."""
