"""One file per kind of view."""
