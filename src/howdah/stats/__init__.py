"""Pure functions on numbers: summaries, comparisons, and how many runs a comparison needs."""

from howdah.stats.compare import compare
from howdah.stats.summary import summarise

__all__ = ["compare", "summarise"]
