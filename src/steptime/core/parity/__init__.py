"""How far a backend is from the numpy reference, computed where its framework is: from the same weights and the same batch."""
