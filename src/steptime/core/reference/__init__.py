"""The reference in numpy: every operator forward and backward, written to be right rather than fast."""
