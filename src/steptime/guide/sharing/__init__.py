"""Every way to take a view along: files, notebooks, the single-file report, records sent to another guide."""
