"""Slurm: its commands, and what its answers mean."""
