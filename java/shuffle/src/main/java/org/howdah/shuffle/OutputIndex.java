package org.howdah.shuffle;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.zip.CRC32;
import org.apache.hadoop.mapred.IndexRecord;

/**
 * Reads the index of a map's output: three numbers of 8 bytes for each reduce (where its part
 * starts, its length without compression, its length), and a CRC-32 of all of them. Hadoop's {@code
 * SpillRecord} reads the same by a class that wants Hadoop's native code where security is on.
 */
final class OutputIndex {
  private static final int RECORD = 3 * Long.BYTES;

  private OutputIndex() {}

  /**
   * Returns the part of reduce {@code reduce}.
   *
   * @throws IOException if the file is no such index, is damaged, or has no such part
   */
  static IndexRecord read(File file, int reduce) throws IOException {
    byte[] bytes = Files.readAllBytes(file.toPath());
    int size = bytes.length - Long.BYTES;
    if (size < 0 || size % RECORD != 0) {
      throw new IOException(file + " has " + bytes.length + " bytes, and is no index");
    }
    CRC32 checksum = new CRC32();
    checksum.update(bytes, 0, size);
    ByteBuffer numbers = ByteBuffer.wrap(bytes);
    if (numbers.getLong(size) != checksum.getValue()) {
      throw new IOException(file + " is damaged: its checksum is not that of its content");
    }
    if (reduce >= size / RECORD) {
      throw new IOException(file + " has no part " + reduce + ": it has " + size / RECORD);
    }
    numbers.position(reduce * RECORD);
    return new IndexRecord(numbers.getLong(), numbers.getLong(), numbers.getLong());
  }
}
