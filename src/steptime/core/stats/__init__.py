"""Pure functions from step times to figures. numpy only: the worker's stopping rule uses the same definitions as the report."""
