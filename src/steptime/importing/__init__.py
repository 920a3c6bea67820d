"""Results of other tools as records: files are recognised, names translated, invariants checked, batches stored."""
