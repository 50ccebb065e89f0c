"""Experiments: their plan, their trials, and their findings."""
