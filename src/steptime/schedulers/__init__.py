"""Clusters: sites, batch scripts, submissions and their outcomes. One folder per scheduler."""
