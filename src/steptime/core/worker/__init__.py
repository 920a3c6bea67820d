"""The process that measures: a job folder in, a record out. Runs in any interpreter that has the framework."""
