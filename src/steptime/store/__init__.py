"""Records: one immutable file each, and a derived index of them."""
