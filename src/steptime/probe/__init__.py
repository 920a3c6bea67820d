"""Finds out what this machine can really do, in processes that may die of it, and keeps the findings."""
