package org.howdah.shuffle;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.io.compress.BZip2Codec;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.apache.hadoop.mapred.JobConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MapOutputsTest {
  @TempDir Path directory;

  private final Segments.Counting reporter = new Segments.Counting();
  private final List<String> expected = new ArrayList<>();

  private MapOutputs<Text, Text> outputs(JobConf job, CompressionCodec codec) throws IOException {
    return new MapOutputs<>(Segments.context(job, reporter, codec, null, null));
  }

  private void memory(MapOutputs<Text, Text> outputs, int map, int records, CompressionCodec codec)
      throws IOException {
    List<String> keys = Segments.keys(map, records);
    expected.addAll(keys);
    byte[] segment = Segments.bytes(keys, codec);
    long rawLength = Segments.rawLength(keys);
    byte[] bytes = outputs.take(rawLength);
    Fetched<Text, Text> output =
        Fetched.inMemory(outputs, Segments.map(map), bytes, segment.length);
    assertThat(output.isInMemory()).isTrue();
    output.shuffle(
        null, new ByteArrayInputStream(segment), segment.length, rawLength, null, reporter);
    output.commit();
  }

  private void file(MapOutputs<Text, Text> outputs, int map, int records, CompressionCodec codec)
      throws IOException {
    List<String> keys = Segments.keys(map, records);
    expected.addAll(keys);
    byte[] segment = Segments.bytes(keys, codec);
    org.apache.hadoop.fs.Path path = Segments.file(directory, "map" + map, segment);
    Fetched.inFile(
            outputs, Segments.map(map), path, 0, segment.length, Segments.rawLength(keys), false)
        .commit();
  }

  private void merged(MapOutputs<Text, Text> outputs) throws IOException {
    List<String> found = Segments.read(outputs.merged());
    expected.sort(null);
    assertThat(found).isEqualTo(expected);
  }

  @Test
  void outputsInMemoryAndInFilesAreMerged() throws IOException {
    DefaultCodec compression = new DefaultCodec();
    compression.setConf(new JobConf());
    for (CompressionCodec codec : new CompressionCodec[] {null, compression}) {
      expected.clear();
      JobConf job = Segments.job(directory, 20);
      job.set("mapreduce.reduce.input.buffer.percent", "0.5");
      MapOutputs<Text, Text> outputs = outputs(job, codec);
      for (int map = 0; map < 10; map++) {
        memory(outputs, map, 100 * map, codec);
        file(outputs, 10 + map, 300, codec);
      }
      merged(outputs);
    }
  }

  // Promise (how-to/accelerate): The memory keys of the stock shuffle hold
  @Test
  void memoryThatTheReduceIsToHaveIsGivenBackBeforeIt() throws IOException {
    MapOutputs<Text, Text> outputs = outputs(Segments.job(directory, 5), null);
    for (int map = 0; map < 5; map++) {
      memory(outputs, map, 1000, null);
    }
    merged(outputs);
    assertThat(outputs.context().getSpilledRecordsCounter().getValue()).isEqualTo(5000);
    assertThat(outputs.context().getMergedMapOutputsCounter().getValue()).isEqualTo(5);
  }

  /** The merged map outputs, of so many that are in memory and in files of their maps. */
  private long mergedOfBoth(int maps) throws IOException {
    expected.clear();
    MapOutputs<Text, Text> outputs = outputs(Segments.job(directory, maps), null);
    for (int map = 0; map < maps; map++) {
      List<String> keys = Segments.keys(map, 100);
      expected.addAll(keys);
      byte[] segment = Segments.bytes(keys, null);
      org.apache.hadoop.fs.Path path = Segments.file(directory, "map" + map, segment);
      long rawLength = Segments.rawLength(keys);
      byte[] bytes = outputs.take(rawLength);
      Fetched<Text, Text> output =
          Fetched.inBoth(outputs, Segments.map(map), bytes, path, 0, segment.length);
      assertThat(output.isInMemory()).isTrue();
      output.shuffle(
          null, new ByteArrayInputStream(segment), segment.length, rawLength, null, reporter);
      output.commit();
    }
    merged(outputs);
    return outputs.context().getMergedMapOutputsCounter().getValue();
  }

  @Test
  void whatIsInAFileOfItsMapIsNotWrittenAgainAsFarAsFilesCanBeOpen() throws IOException {
    assertThat(mergedOfBoth(6)).isZero();
    assertThat(mergedOfBoth(499)).isZero();
    assertThat(mergedOfBoth(600)).isEqualTo(101);
  }

  @Test
  void moreFilesThanCanBeOpenAtOnceAreMergedInPasses() throws IOException {
    MapOutputs<Text, Text> outputs = outputs(Segments.job(directory, 1300), null);
    for (int map = 0; map < 1300; map++) {
      file(outputs, map, 3, null);
    }
    merged(outputs);
    assertThat(outputs.context().getMergedMapOutputsCounter().getValue()).isGreaterThan(700);
  }

  /** The files that are merged before the last merge, of twenty compressed ones. */
  private long mergedBefore(CompressionCodec codec, long heap, int factor) throws IOException {
    expected.clear();
    JobConf job = Segments.job(directory, 20);
    job.setLong("mapreduce.reduce.memory.totalbytes", heap);
    job.setInt("mapreduce.task.io.sort.factor", factor);
    MapOutputs<Text, Text> outputs = outputs(job, codec);
    for (int map = 0; map < 20; map++) {
      file(outputs, map, 3, codec);
    }
    merged(outputs);
    return outputs.context().getMergedMapOutputsCounter().getValue();
  }

  @Test
  void noMoreCompressedFilesAreOpenAtOnceThanHadoopWouldOrTheHeapHolds() throws IOException {
    DefaultCodec small = new DefaultCodec();
    small.setConf(new JobConf());
    BZip2Codec large = new BZip2Codec();
    large.setConf(new JobConf());
    assertThat(mergedBefore(large, 200 << 20, 10)).isEqualTo(12);
    assertThat(mergedBefore(large, 200 << 20, 20)).isZero();
    assertThat(mergedBefore(large, 1 << 30, 10)).isZero();
    assertThat(mergedBefore(small, 200 << 20, 10)).isZero();
    assertThat(mergedBefore(small, 1 << 20, 1)).isGreaterThanOrEqualTo(19);
  }

  /** Counts how often it compares before progress is reported. */
  public static final class SlowComparator extends WritableComparator {
    static final AtomicInteger UNREPORTED = new AtomicInteger();
    static final AtomicInteger MOST = new AtomicInteger();

    public SlowComparator() {
      super(Text.class, true);
    }

    @Override
    public int compare(byte[] one, int from, int length, byte[] other, int start, int count) {
      MOST.accumulateAndGet(UNREPORTED.incrementAndGet(), Math::max);
      return super.compare(one, from, length, other, start, count);
    }
  }

  // Promise (how-to/accelerate): A task with a slow comparator reports progress
  @Test
  void mergesBySlowComparisonsReportProgress() throws IOException {
    JobConf job = Segments.job(directory, 20);
    job.setOutputKeyComparatorClass(SlowComparator.class);
    reporter.onProgress = () -> SlowComparator.UNREPORTED.set(0);
    MapOutputs<Text, Text> outputs = outputs(job, null);
    for (int map = 0; map < 20; map++) {
      memory(outputs, map, 500, null);
    }
    merged(outputs);
    // Those that were in memory to a file, and that one to the reduce.
    assertThat(outputs.context().getMergedMapOutputsCounter().getValue()).isEqualTo(20);
    assertThat(SlowComparator.MOST.get()).isBetween(1, 5 * 65);
  }

  // Promise (how-to/accelerate): The memory keys of the stock shuffle hold
  @Test
  void memoryIsBounded() throws IOException {
    JobConf job = Segments.job(directory, 1);
    job.setLong("mapreduce.reduce.memory.totalbytes", 1000);
    MapOutputs<Text, Text> outputs = outputs(job, null);
    assertThat(outputs.take(176)).isNull();
    for (int number = 0; number < 4; number++) {
      assertThat(outputs.take(174)).hasSize(174);
    }
    assertThat(outputs.take(10)).isNull();
    outputs.release(174);
    assertThat(outputs.take(10)).hasSize(10);
  }

  @Test
  void nothingIsMergedToNothing() throws IOException {
    MapOutputs<Text, Text> outputs = outputs(Segments.job(directory, 2), null);
    memory(outputs, 0, 0, null);
    merged(outputs);
    merged(outputs(Segments.job(directory, 0), null));
  }
}
