package org.howdah.sort;

import java.io.IOException;
import java.io.OutputStream;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.IFile;
import org.apache.hadoop.util.IndexedSortable;
import org.apache.hadoop.util.QuickSort;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Sorting a map's records, and writing them: ours, and what Hadoop's collector does with its
 * classes.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(
    value = 1,
    jvmArgs = {"-Xmx3g", "-XX:+UseSerialGC"})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class MapSide {
  static final int RECORDS = 1_000_000;

  private final byte[] records = TeraRecords.of(RECORDS, 1);
  private final byte[] copied = new byte[records.length];
  private RecordBuffer buffer;
  private Stock stock;

  /** Each sort begins with records that are not sorted. */
  @Setup(Level.Invocation)
  public void fill() throws IOException {
    buffer = TeraRecords.buffer(records);
    stock = new Stock(records);
  }

  /**
   * As Hadoop's buffer lies: sixteen bytes of numbers per record, which are swapped; keys are
   * compared where they are.
   */
  private static final class Stock implements IndexedSortable {
    private final byte[] data;
    private final int[] meta;

    Stock(byte[] data) {
      this.data = data;
      meta = new int[RECORDS * 4];
      for (int index = 0; index < RECORDS; index++) {
        meta[4 * index] = index * TeraRecords.RECORD;
        meta[4 * index + 1] = index * TeraRecords.RECORD + TeraRecords.KEY;
        meta[4 * index + 3] = TeraRecords.VALUE;
      }
    }

    @Override
    public int compare(int one, int other) {
      int left = 4 * one;
      int right = 4 * other;
      if (meta[left + 2] != meta[right + 2]) {
        return meta[left + 2] - meta[right + 2];
      }
      return TeraRecords.COMPARATOR.compare(
          data,
          meta[left],
          meta[left + 1] - meta[left],
          data,
          meta[right],
          meta[right + 1] - meta[right]);
    }

    @Override
    public void swap(int one, int other) {
      for (int part = 0; part < 4; part++) {
        int held = meta[4 * one + part];
        meta[4 * one + part] = meta[4 * other + part];
        meta[4 * other + part] = held;
      }
    }
  }

  @Benchmark
  @OperationsPerInvocation(RECORDS)
  public Object sortOurs() {
    return new SortedRecords(buffer, 1, TeraRecords.ORDER, TeraRecords.COMPARATOR, () -> {})
        .partition(0);
  }

  @Benchmark
  @OperationsPerInvocation(RECORDS)
  public Object sortStock() {
    new QuickSort().sort(stock, 0, RECORDS);
    return stock;
  }

  @Benchmark
  @OperationsPerInvocation(RECORDS)
  public long writeOurs() throws IOException {
    try (FSDataOutputStream file = new FSDataOutputStream(new Nowhere(), null)) {
      SegmentWriter writer = new SegmentWriter(file, null, new byte[SegmentWriter.BUFFER_BYTES]);
      for (int at = 0; at < records.length; at += TeraRecords.RECORD) {
        writer.append(records, at, TeraRecords.KEY, TeraRecords.VALUE);
      }
      writer.finish();
      return writer.partLength();
    }
  }

  @Benchmark
  @OperationsPerInvocation(RECORDS)
  public long writeStock() throws IOException {
    try (FSDataOutputStream file = new FSDataOutputStream(new Nowhere(), null)) {
      IFile.Writer<Text, Text> writer =
          new IFile.Writer<>(new Configuration(false), file, Text.class, Text.class, null, null);
      DataInputBuffer key = new DataInputBuffer();
      DataInputBuffer value = new DataInputBuffer();
      for (int at = 0; at < records.length; at += TeraRecords.RECORD) {
        key.reset(records, at, TeraRecords.KEY);
        value.reset(records, at + TeraRecords.KEY, TeraRecords.VALUE);
        writer.append(key, value);
      }
      writer.close();
      return writer.getCompressedLength();
    }
  }

  /** The memory's own speed, per record: a copy of all of them, to where others were before. */
  @Benchmark
  @OperationsPerInvocation(RECORDS)
  public Object memoryCopy() {
    System.arraycopy(records, 0, copied, 0, records.length);
    return copied;
  }

  private static final class Nowhere extends OutputStream {
    @Override
    public void write(int one) {}

    @Override
    public void write(byte[] from, int start, int length) {}
  }
}
