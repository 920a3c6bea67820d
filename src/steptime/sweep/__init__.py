"""A sweep is a list of cases. It may be killed at any moment and resumed later."""
