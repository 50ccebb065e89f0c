"""The HTTP interfaces of the daemons of a running cluster."""
