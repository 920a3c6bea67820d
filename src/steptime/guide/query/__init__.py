"""From a view to figures: SQL on the index, and the plain values that answers are made of."""
