"""Real data: found, checked, staged, and read in batches."""
