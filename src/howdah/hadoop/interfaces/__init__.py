"""What the daemons of a running cluster offer over HTTP."""
