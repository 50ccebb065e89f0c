"""Commands on clusters and on their contents."""
