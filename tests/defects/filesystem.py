"""Defects of the file system over a mount, and of the buffered client of HDFS."""

from __future__ import annotations

from tests.defects.defect import Defect

_FILES = "java/filesystem/src/main/java/org/howdah/filesystem"

DEFECTS = (
    Defect(
        name="damaged-byte-unseen",
        promise="With checksums, a damaged byte is an error before a reader gets it.",
        file=f"{_FILES}/Checksums.java",
        old="    if (left == 0) {",
        new="    if (left < size) {",
        tests=("filesystem:StreamsTest#aDamagedByteIsFound",),
    ),
    Defect(
        name="old-checksums-believed",
        promise="A file that another program has changed is read without its old checksums.",
        file=f"{_FILES}/Checksums.java",
        old="if (value.getLong() != entry.size || value.getLong() != entry.modified) {",
        new="if (value.getLong() != entry.size || value.getLong() > entry.modified) {",
        tests=("filesystem:ChecksumsTest#afterAnyChangesAFileHasTheChecksumsOfItsBytesOrNone",),
    ),
    Defect(
        name="link-leads-out",
        promise="No symbolic link leads out of the root of the file system.",
        file=f"{_FILES}/Mount.java",
        old="      if (!real.startsWith(realRoot)) {",
        new="      if (!real.toString().startsWith(realRoot.toString())) {",
        tests=("filesystem:MountTest#noLinkLeadsToADirectoryWhoseNameBeginsWithTheRoots",),
    ),
    Defect(
        name="lost-mount-written-to",
        promise="Nothing is written to the disk below a mount that was lost.",
        file=f"{_FILES}/Mount.java",
        old="    if (mounted && outside.contains(now)) {",
        new="    if (mounted && now == device) {",
        tests=("filesystem:MountTest#whenTheMountIsLostNothingIsWrittenToTheDiskBelowIt",),
    ),
    Defect(
        name="rename-replaces",
        promise="A rename never replaces what is there.",
        file=f"{_FILES}/Renames.java",
        old="      return Tree.renameFile(from, to);",
        new="      if (Entry.isThere(to)) {\n        return false;\n      }\n"
        "      Tree.replace(from, to);\n      return true;",
        tests=("filesystem:TreeTest#aRenameNeverReplaces",),
    ),
    Defect(
        name="listing-cut-short",
        promise="A large directory is listed whole, however slow the storage answers.",
        file=f"{_FILES}/Listing.java",
        old="      await(piece);",
        new="      if (piece.isDone()) {\n        await(piece);\n      }",
        tests=("filesystem:ListingTest#othersHelpWhereAnswersAreSlow",),
    ),
    Defect(
        name="aborted-file-left",
        promise="A file that is to appear when it is complete is never seen before.",
        file=f"{_FILES}/FileOutput.java",
        old="    try {\n      channel.close();\n    } finally {\n      end.abandon();\n    }",
        new="    try {\n      channel.close();\n    } finally {\n      open.remove(this);\n    }",
        tests=("filesystem:StreamsTest#anAbortedOrBrokenAtomicFileIsNeverSeen",),
    ),
    Defect(
        name="failed-storage-has-no-checksums",
        promise="With checksums, a storage that fails is an error, never a file that is read without being compared.",
        file=f"{_FILES}/Errors.java",
        old='          "needs cleaning",\n',
        new="",
        tests=(
            "tests/system/test_failing_storage.py::test_a_call_that_fails_is_an_error_of_hadoops_and_changes_nothing",
        ),
    ),
    Defect(
        name="close-without-fsync",
        promise="A file that is fsynced when it is closed is whole after a loss of power.",
        file=f"{_FILES}/FileOutput.java",
        old="      if (syncOnClose) {\n        behind.force();\n      }",
        new="      if (syncOnClose && !settings.syncDirectories) {\n        behind.force();\n      }",
        tests=("tests/system/test_power_loss.py::test_a_file_that_is_synchronised_when_it_is_closed_is_whole",),
    ),
    Defect(
        name="bytes-read-ahead-counted",
        promise="With the buffered client of HDFS, counters say what the program read.",
        file="java/hdfs/src/main/java/org/howdah/hdfs/BufferedInput.java",
        old="      statistics.incrementBytesRead(next - end);",
        new="      statistics.incrementBytesRead(0);",
        tests=("hdfs:BufferedFileSystemTest#readsAndCountsLikeHadoopsOwn",),
    ),
)
