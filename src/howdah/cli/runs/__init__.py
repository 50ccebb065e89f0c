"""Commands that make and show runs."""
