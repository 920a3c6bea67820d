"""The numpy oracle: every operator forward and backward, written to be right rather than fast."""
