"""Is a backend the same as the reference? Asked in its own interpreter, judged here; a pytest plugin makes tests of it."""
