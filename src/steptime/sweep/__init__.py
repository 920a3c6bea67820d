"""A list of cases, run one after another; it may be killed at any moment and go on later."""
