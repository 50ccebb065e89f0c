"""The history that jobs leave."""
