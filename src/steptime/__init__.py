"""steptime: how fast does deep learning run here, why, and what would make it faster?"""

__version__ = "0.1.0"
