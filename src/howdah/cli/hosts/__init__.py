"""Commands on machines, batch jobs and software."""
