"""Commands on clusters, and on what is in them."""
