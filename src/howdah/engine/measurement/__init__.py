"""Workloads measured one or several times on one cluster."""
