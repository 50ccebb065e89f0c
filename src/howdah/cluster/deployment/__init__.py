"""From hosts to a cluster that works, and back."""
