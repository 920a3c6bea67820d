"""The families by the name that tests knew them by."""

from steptime.parity.families import REDUCED, model_of

__all__ = ["REDUCED", "model_of"]
