package org.howdah.sort;

import java.io.IOException;
import java.io.OutputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.io.compress.CodecPool;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.CompressionOutputStream;
import org.apache.hadoop.io.compress.Compressor;
import org.apache.hadoop.mapred.IFileOutputStream;

/** Writes one segment of map output, as Hadoop's `IFile.Writer` does, but records in bulk. */
public final class SegmentWriter {
  /** Bytes of the array that a writer fills before it checksums, compresses and writes them. */
  public static final int BUFFER_BYTES = 1 << 18;

  private final FSDataOutputStream file;
  private final long began;
  private final IFileOutputStream checked;
  private final CompressionOutputStream compressed;
  private final Compressor compressor;
  private final OutputStream out;
  private final byte[] buffer;
  private int filled;
  private long records;
  private long rawLength;
  private long partLength;

  /**
   * Writes to {@code file} from where it is, through {@code codec} if there is one. {@code buffer}
   * is lent.
   */
  public SegmentWriter(FSDataOutputStream file, CompressionCodec codec, byte[] buffer)
      throws IOException {
    this.file = file;
    this.began = file.getPos();
    this.buffer = buffer;
    checked = new IFileOutputStream(file);
    compressor = codec == null ? null : CodecPool.getCompressor(codec);
    if (compressor == null) {
      // Of a codec without one, too: as Hadoop's own does, whose reader expects it.
      compressed = null;
      out = checked;
    } else {
      compressor.reset();
      compressed = codec.createOutputStream(checked, compressor);
      out = compressed;
    }
  }

  /** Adds the record at which {@code cursor} is. */
  public void append(RecordCursor cursor) throws IOException {
    records++;
    write(cursor.data, cursor.start, cursor.length());
  }

  /** Adds a record whose key and value stand one after the other in {@code data}. */
  public void append(byte[] data, int start, int keyLength, int valueLength) throws IOException {
    records++;
    if (buffer.length - filled < SegmentFormat.MOST_HEADER) {
      drain();
    }
    int keyed = SegmentFormat.write(buffer, filled, keyLength);
    int next = SegmentFormat.write(buffer, keyed, valueLength);
    rawLength += next - filled;
    filled = next;
    write(data, start, keyLength + valueLength);
  }

  private void write(byte[] data, int start, int length) throws IOException {
    rawLength += length;
    if (length > buffer.length - filled) {
      drain();
      if (length > buffer.length) {
        out.write(data, start, length);
        return;
      }
    }
    System.arraycopy(data, start, buffer, filled, length);
    filled += length;
  }

  private void drain() throws IOException {
    out.write(buffer, 0, filled);
    filled = 0;
  }

  /** Ends the segment; the file stays open. The lengths are known afterwards. */
  public void finish() throws IOException {
    if (buffer.length - filled < 2) {
      drain();
    }
    buffer[filled++] = SegmentFormat.END;
    buffer[filled++] = SegmentFormat.END;
    rawLength += 2;
    drain();
    if (compressed != null) {
      compressed.finish();
      compressed.resetState();
    }
    checked.finish();
    if (compressor != null) {
      CodecPool.returnCompressor(compressor);
    }
    partLength = file.getPos() - began;
  }

  public long records() {
    return records;
  }

  /** Bytes of the records and the mark of the end. */
  public long rawLength() {
    return rawLength;
  }

  /** Bytes in the file, after compression, with the checksum. */
  public long partLength() {
    return partLength;
  }
}
