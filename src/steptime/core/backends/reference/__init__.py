"""The numpy reference as a backend."""
