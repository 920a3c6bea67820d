"""What this machine is, and who else is using it. Standard library only: it runs where the steps run."""
