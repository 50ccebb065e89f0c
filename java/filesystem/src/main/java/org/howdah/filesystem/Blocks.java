package org.howdah.filesystem;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.LocatedFileStatus;

/** Where the blocks of a file are: at the hosts that are set, or at none. */
final class Blocks {
  private Blocks() {}

  /**
   * One location per block that the range touches.
   *
   * @throws IllegalArgumentException for a range that begins or ends before 0
   */
  static BlockLocation[] of(FileStatus file, long start, long length, Settings settings) {
    if (start < 0 || length < 0) {
      throw new IllegalArgumentException(
          "a range of a file begins at 0 or later and is not shorter than 0");
    }
    if (file.isDirectory() || file.getLen() <= start) {
      return new BlockLocation[0];
    }
    // Some programs make a status without one.
    long block = file.getBlockSize() > 1 ? file.getBlockSize() : settings.blockSize;
    long end =
        Math.min(file.getLen(), length > Long.MAX_VALUE - start ? Long.MAX_VALUE : start + length);
    List<BlockLocation> found = new ArrayList<>();
    for (long at = start / block * block; at < Math.max(end, start + 1); at += block) {
      found.add(
          new BlockLocation(
              settings.blockHosts, settings.blockHosts, at, Math.min(block, file.getLen() - at)));
    }
    return found.toArray(new BlockLocation[0]);
  }

  /** The status with its blocks, null for a directory. */
  static LocatedFileStatus with(FileStatus status, BlockLocation[] blocks) throws IOException {
    return new LocatedFileStatus(
        status.getLen(),
        status.isDirectory(),
        status.getReplication(),
        status.getBlockSize(),
        status.getModificationTime(),
        status.getAccessTime(),
        status.getPermission(),
        status.getOwner(),
        status.getGroup(),
        status.isSymlink() ? status.getSymlink() : null,
        status.getPath(),
        false,
        false,
        false,
        blocks);
  }
}
