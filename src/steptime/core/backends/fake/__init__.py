"""A backend for tests, which does as its options say."""
