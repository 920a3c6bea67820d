"""What is asked: the address of a chart, its notation, and the dimensions and measures it may name."""
