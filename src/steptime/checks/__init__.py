"""Is it what it says? Backends against the reference, workers against the protocol, environments and sites by trying them."""
