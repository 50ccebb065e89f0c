"""The configuration of clusters and jobs: roles, sizes, keys, files."""
