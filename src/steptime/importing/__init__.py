"""What other tools wrote, as records: files in, importers asked, names translated, invariants checked, batches stored."""
