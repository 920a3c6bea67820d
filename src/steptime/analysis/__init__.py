"""What figures say about each other."""
