"""One file per framework: a table from operator to framework code. Found by file name, imported on first use."""
