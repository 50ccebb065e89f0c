package org.howdah.filesystem;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.VectoredReadUtils;

/** Reads many ranges of a file in the background, neighbours together. */
final class VectoredReads {
  /** Reads until the buffer is full. */
  interface Source {
    void readFully(long from, ByteBuffer into) throws IOException;
  }

  /** Bytes between two ranges that are cheaper to read than to leave out; a memory page or four. */
  private static final int GAP = 16 << 10;

  private final Source source;
  private final int largest;

  /**
   * @param largest bytes that are read together; a range that is larger is read alone
   */
  VectoredReads(Source source, int largest) {
    this.source = source;
    this.largest = largest;
  }

  /**
   * Returns at once; every range then has a future.
   *
   * @throws IllegalArgumentException if ranges overlap
   * @throws java.io.EOFException if one leads beyond the end of the file
   */
  void start(List<? extends FileRange> ranges, long length, IntFunction<ByteBuffer> allocate)
      throws IOException {
    List<? extends FileRange> sorted =
        VectoredReadUtils.validateAndSortRanges(ranges, Optional.of(length));
    List<FileRange> together = new ArrayList<>();
    for (FileRange range : sorted) {
      range.setData(new CompletableFuture<>());
      if (!together.isEmpty() && !fits(together, range)) {
        submit(together, allocate);
        together = new ArrayList<>();
      }
      together.add(range);
    }
    if (!together.isEmpty()) {
      submit(together, allocate);
    }
  }

  private boolean fits(List<FileRange> together, FileRange range) {
    long start = together.get(0).getOffset();
    long gap = range.getOffset() - end(together.get(together.size() - 1));
    return gap <= GAP && end(range) - start <= largest;
  }

  private void submit(List<FileRange> together, IntFunction<ByteBuffer> allocate) {
    Background.pool()
        .execute(
            () -> {
              try {
                if (together.size() == 1) {
                  one(together.get(0), allocate);
                } else {
                  several(together, allocate);
                }
              } catch (IOException | RuntimeException | Error e) {
                together.forEach(range -> range.getData().completeExceptionally(e));
              }
            });
  }

  private void one(FileRange range, IntFunction<ByteBuffer> allocate) throws IOException {
    ByteBuffer bytes = allocate.apply(range.getLength());
    // A pool may give more than was asked for.
    bytes.limit(bytes.position() + range.getLength());
    source.readFully(range.getOffset(), bytes);
    bytes.flip();
    range.getData().complete(bytes);
  }

  private void several(List<FileRange> together, IntFunction<ByteBuffer> allocate)
      throws IOException {
    long start = together.get(0).getOffset();
    ByteBuffer all = Buffers.of(largest).take();
    try {
      all.limit((int) (end(together.get(together.size() - 1)) - start));
      source.readFully(start, all);
      for (FileRange range : together) {
        ByteBuffer bytes = allocate.apply(range.getLength());
        all.limit((int) (end(range) - start)).position((int) (range.getOffset() - start));
        bytes.put(all);
        bytes.flip();
        range.getData().complete(bytes);
      }
    } finally {
      Buffers.give(all);
    }
  }

  private static long end(FileRange range) {
    return range.getOffset() + range.getLength();
  }
}
