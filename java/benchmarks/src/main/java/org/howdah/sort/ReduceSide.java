package org.howdah.sort;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.Merger;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapreduce.task.reduce.InMemoryReader;
import org.apache.hadoop.util.Progress;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Merging eight map outputs that are in memory: ours, and Hadoop's. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(
    value = 1,
    jvmArgs = {"-Xmx3g", "-XX:+UseSerialGC"})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class ReduceSide {
  static final int SEGMENTS = 8;
  static final int RECORDS = 800_000;

  private final List<byte[]> segments = new ArrayList<>();
  private final JobConf conf = new JobConf();

  @Setup
  public void sort() throws IOException {
    for (int segment = 0; segment < SEGMENTS; segment++) {
      segments.add(TeraRecords.segment(RECORDS / SEGMENTS, segment));
    }
  }

  @Benchmark
  @OperationsPerInvocation(RECORDS)
  public long mergeOurs() throws IOException {
    List<RecordCursor> cursors = new ArrayList<>();
    for (byte[] segment : segments) {
      cursors.add(SegmentCursor.inMemory(segment, segment.length, "it"));
    }
    return read(
        new MergedRecords(cursors, TeraRecords.ORDER, TeraRecords.COMPARATOR, RECORDS, () -> {}));
  }

  @Benchmark
  @OperationsPerInvocation(RECORDS)
  @SuppressWarnings("unchecked")
  public long mergeStock() throws IOException {
    List<Merger.Segment<Text, Text>> readers = new ArrayList<>();
    for (byte[] segment : segments) {
      InMemoryReader<Text, Text> reader =
          new InMemoryReader<>(null, null, segment, 0, segment.length, new Configuration(false));
      readers.add(new Merger.Segment<>(reader, true));
    }
    return read(
        Merger.merge(
            conf,
            FileSystem.getLocal(conf),
            Text.class,
            Text.class,
            readers,
            100,
            new Path("/none"),
            (RawComparator<Text>) TeraRecords.COMPARATOR,
            Reporter.NULL,
            false,
            null,
            null,
            new Progress()));
  }

  private static long read(RawKeyValueIterator merged) throws IOException {
    long sum = 0;
    while (merged.next()) {
      sum += merged.getKey().getLength() + merged.getValue().getLength();
    }
    return sum;
  }
}
