"""Clusters: what a site is, the scripts that are submitted to it, and what became of them. One folder per scheduler."""
