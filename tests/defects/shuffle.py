"""Defects of the accelerator's shuffle."""

from __future__ import annotations

from tests.defects.defect import Defect

_SHUFFLE = "java/shuffle/src/main/java/org/howdah/shuffle"

DEFECTS = (
    Defect(
        name="fetched-not-compared",
        promise="The checksum of every map output is compared before a reduce takes it.",
        file=f"{_SHUFFLE}/Fetched.java",
        old="    if (sum.getValue() != (tail & 0xFFFFFFFFL)) {",
        new="    if (to == null && sum.getValue() != (tail & 0xFFFFFFFFL)) {",
        tests=("shuffle:TransportTest#itNeverGivesADamagedOne",),
    ),
    Defect(
        name="foreign-file-read",
        promise="Map outputs are read as files only where they belong to the user and are no links.",
        file=f"{_SHUFFLE}/DirectOutputs.java",
        old="        || !owner.equals(Files.getOwner(path, LinkOption.NOFOLLOW_LINKS))) {",
        new="        || !Files.isReadable(path)) {",
        tests=("shuffle:MergingShuffleTest#anotherUsersFileIsNotRead",),
    ),
    Defect(
        name="last-attempt-given-up",
        promise="The shuffle never has the master give up a map that has few attempts left.",
        file=f"{_SHUFFLE}/EarlyNotices.java",
        old="LEAST_LEFT = 2;",
        new="LEAST_LEFT = 1;",
        tests=("shuffle:FetchFailuresTest#theMasterIsToldOfAMapThatHasTwoAttemptsLeftAndOfNoOther",),
    ),
    Defect(
        name="output-of-another-reduce-taken",
        promise="A reduce takes the outputs that are for it alone.",
        file=f"{_SHUFFLE}/HttpOutputs.java",
        old="announced.reduce != reduce",
        new="announced.reduce < 0",
        tests=("shuffle:TransportTest#anOutputThatIsAnnouncedForAnotherReduceIsNotGiven",),
    ),
    Defect(
        name="failed-input-is-a-success",
        promise="A reduce that goes on after its input has failed does not succeed.",
        file=f"{_SHUFFLE}/MergingShuffle.java",
        old='throw new UncheckedIOException("a reduce went on after its input had failed", swallowed);',
        new='LOG.warn("A reduce went on after its input had failed", swallowed);',
        tests=("shuffle:MergingShuffleTest#aReduceThatGoesOnAfterItsInputHasFailedHasNotSucceeded",),
    ),
    Defect(
        name="memory-not-given-back",
        promise="Map outputs take no more of a reduce's heap than their share.",
        file=f"{_SHUFFLE}/MapOutputs.java",
        old="memory + taken > memoryLimit)) {",
        new="taken > memoryLimit)) {",
        tests=("shuffle:MapOutputsTest#memoryIsBounded",),
    ),
    Defect(
        name="damaged-map-not-run-again",
        promise="A map whose output is damaged runs again, and the job's result is right.",
        file=f"{_SHUFFLE}/DirectOutputs.java",
        old="      Fetched.check(\n"
        "          in, part.partLength, isPlain, null, outputs.context().getReporter(), output.getPath());\n",
        new='      LOG.debug("{}, plain: {}", output, isPlain);\n',
        tests=("tests/faults/test_accelerated_jobs.py::test_map_outputs_that_are_damaged[damages0]",),
    ),
    Defect(
        name="index-unchecked",
        promise="A damaged index of a map's output is noticed.",
        file=f"{_SHUFFLE}/OutputIndex.java",
        old="numbers.getLong(size) != checksum.getValue()",
        new="numbers.getLong(size) == checksum.getValue() + 1",
        tests=("shuffle:OutputIndexTest#whatIsDamagedIsRefused",),
    ),
)
