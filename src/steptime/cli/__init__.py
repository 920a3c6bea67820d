"""Arguments, printing, exit codes; nothing else."""
