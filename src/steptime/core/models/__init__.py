"""Models as graphs of a closed set of operators: described once, built by every backend."""
