"""A backend that does nothing."""
