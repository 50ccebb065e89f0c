"""A test whether something comes more often on one side than on the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence


def unevenness(left: Sequence[Hashable], right: Sequence[Hashable]) -> float:
    """Return the p-value of the hypothesis that the values on both sides come from one source. It is the smallest of
    Fisher's exact tests of each value against all others, times their number (Bonferroni). 1 if there is one value."""
    import numpy as np
    from scipy.stats import fisher_exact  # late: the import takes most of a second

    here, there = Counter(left), Counter(right)
    values = here.keys() | there.keys()
    if len(values) < 2:
        return 1.0
    tables = (np.array([[here[v], len(left) - here[v]], [there[v], len(right) - there[v]]]) for v in values)
    return min(1.0, len(values) * min(float(fisher_exact(table)[1]) for table in tables))
