"""Real data: located, checked, staged, and read in batches."""
