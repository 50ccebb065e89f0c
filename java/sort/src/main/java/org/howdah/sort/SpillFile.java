package org.howdah.sort;

import java.io.IOException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.SpillRecord;
import org.apache.hadoop.mapreduce.security.IntermediateEncryptedStream;

/** Sorted records of all partitions in a file, and where in it each partition is. */
final class SpillFile {
  private final Path file;
  private final long length;
  private final SpillRecord index;
  private final Path indexFile;

  private SpillFile(Path file, long length, SpillRecord index, Path indexFile) {
    this.file = file;
    this.length = length;
    this.index = index;
    this.indexFile = indexFile;
  }

  /** One whose index stays in memory. */
  static SpillFile indexed(Path file, long length, SpillRecord index) {
    return new SpillFile(file, length, index, null);
  }

  /** One whose index is written to {@code indexFile}, for lack of memory for all of them. */
  static SpillFile indexed(Path file, long length, SpillRecord index, Path indexFile, JobConf job)
      throws IOException {
    IntermediateEncryptedStream.addSpillIndexFile(indexFile, job);
    index.writeToFile(indexFile, job);
    return new SpillFile(file, length, null, indexFile);
  }

  Path file() {
    return file;
  }

  /** Bytes on disk. */
  long length() {
    return length;
  }

  /** The index, read and its checksum compared if it is in a file. */
  SpillRecord index(JobConf job) throws IOException {
    if (indexFile == null) {
      return index;
    }
    IntermediateEncryptedStream.validateSpillIndexFile(indexFile, job);
    return new SpillRecord(indexFile, job);
  }

  void delete(FileSystem local) throws IOException {
    local.delete(file, false);
    if (indexFile != null) {
      local.delete(indexFile, false);
    }
  }
}
