"""Howdah's own benchmarks: `make bench`, or `make bench ROW=NAME`. Results in docs/performance.md."""
