"""The worker process: reads a job folder, leaves a record. Runs in any interpreter that has the framework."""
