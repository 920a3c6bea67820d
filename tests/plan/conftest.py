"""Examples are judged by what they give, not by how long they take: the machine may be measuring something else."""

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
