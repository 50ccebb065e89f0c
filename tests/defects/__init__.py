"""Planted defects: mistakes in the product, each with the promise that it breaks and the tests that must notice it.

`make defects` plants them in a copy, one at a time (`tools/defects.py`). `tests/unit/test_defects.py` holds them to the
sources as they are now.
"""

from __future__ import annotations

from tests.defects import (
    batch,
    clusters,
    energy,
    experiments,
    filesystem,
    hadoop,
    hosts,
    records,
    reports,
    security,
    shuffle,
    sort,
    statistics,
    work,
)
from tests.defects.defect import Defect

DEFECTS: tuple[Defect, ...] = (
    *statistics.DEFECTS,
    *reports.DEFECTS,
    *energy.DEFECTS,
    *experiments.DEFECTS,
    *records.DEFECTS,
    *hadoop.DEFECTS,
    *work.DEFECTS,
    *sort.DEFECTS,
    *shuffle.DEFECTS,
    *filesystem.DEFECTS,
    *batch.DEFECTS,
    *clusters.DEFECTS,
    *hosts.DEFECTS,
    *security.DEFECTS,
)
