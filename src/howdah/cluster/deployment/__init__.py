"""From hosts to a working cluster, and back."""
