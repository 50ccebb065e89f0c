"""Defects of the accelerator's sort."""

from __future__ import annotations

from tests.defects.defect import Defect

_SORT = "java/sort/src/main/java/org/howdah/sort"

DEFECTS = (
    Defect(
        name="record-lost-in-a-merge",
        promise="A job with the accelerator has the same output as without.",
        file=f"{_SORT}/MergedRecords.java",
        old="(from + cursors.length) >>> 1; node > 0; node >>>= 1)",
        new="(from + cursors.length) >>> 1; node > 1; node >>>= 1)",
        tests=("sort:JobsTest#manySpillsAreMerged",),
    ),
    Defect(
        name="negative-floats-disordered",
        promise="Keys are in the order of their comparator, negative numbers included.",
        file=f"{_SORT}/KeyOrders.java",
        old="return bits >= 0 ? bits : bits ^ Long.MAX_VALUE;",
        new="return bits;",
        tests=("sort:KeyOrdersTest#thePrefixAgreesWithTheComparator",),
    ),
    Defect(
        name="fold-across-partitions",
        promise="Sums that are folded are those of one key in one partition.",
        file=f"{_SORT}/FoldTable.java",
        old="      if (RecordBuffer.partition(entry) == partition\n          && same(",
        new="      if (slots[slot] == hash\n          && !same(",
        tests=("sort:FoldTableTest#equalKeysOfAPartitionAreAddedUpOverflowIncluded",),
    ),
    Defect(
        name="lost-record-forgotten",
        promise="A record that could not be kept fails its map, whatever the mapper catches.",
        file=f"{_SORT}/SortingCollector.java",
        old="      // It was written: a mapper that goes on would lose it.\n      broken = failure;\n",
        new="      // It was written: a mapper that goes on would lose it.\n      buffer.drop();\n",
        tests=("sort:ProvidersTest#aRecordThatIsLostAfterItWasWrittenFailsTheMapWhateverItsMapperIgnores",),
    ),
    Defect(
        name="partitions-mixed-up",
        promise="A job that the sort cannot serve exactly is left to the stock sort before its first record.",
        file=f"{_SORT}/SortingCollector.java",
        old="    if (job.getNumReduceTasks() > RecordBuffer.MOST_PARTITIONS) {",
        new="    if (job.getNumReduceTasks() - 1 > RecordBuffer.MOST_PARTITIONS) {",
        tests=("sort:ProvidersTest#morePartitionsThanItCanTellApartAreLeftToHadoop",),
    ),
)
