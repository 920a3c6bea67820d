"""What this machine can really do, found out in processes that may die of it, and remembered."""
