"""One run: its session, phases and jobs, from the first client to the closed run directory."""
