"""Experiments: their plan, their trials, and what the trials show."""
