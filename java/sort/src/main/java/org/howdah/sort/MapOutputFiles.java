package org.howdah.sort;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.io.IOUtils;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.IndexRecord;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapOutputFile;
import org.apache.hadoop.mapred.SpillRecord;
import org.apache.hadoop.mapred.Task.TaskReporter;
import org.apache.hadoop.mapreduce.CryptoUtils;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.counters.LimitExceededException;
import org.apache.hadoop.mapreduce.security.IntermediateEncryptedStream;
import org.apache.hadoop.util.DiskChecker.DiskErrorException;
import org.apache.hadoop.util.Progress;
import org.apache.hadoop.util.ReflectionUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of a map: what it spills, and its output with the index, in the form that Hadoop's
 * shuffle serves.
 */
final class MapOutputFiles<K, V> {
  private static final Logger LOG = LoggerFactory.getLogger(MapOutputFiles.class);
  private static final FsPermission SERVED = new FsPermission((short) 0640);
  private static final int HEADER_BYTES = 150;
  private static final int READ_BYTES = 1 << 18;
  private static final int LEAST_READ_BYTES = 1 << 13;
  private static final long MOST_READ_BYTES = 32L << 20;
  private static final int INDEX_BYTES = 3 * Long.BYTES;
  private static final long MOST_INDEX_BYTES = 16L << 20;
  // Of open files a task may have some thousand.
  private static final int MOST_FILES = 500;

  private final JobConf job;
  private final MapOutputFile names;
  private final FileSystem local;
  private final CompressionCodec codec;
  private final Combining<K, V> combining;
  private final KeyOrder order;
  private final RawComparator<K> comparator;
  private final TaskReporter reporter;
  private final StepProgress progress;
  private final Counters.Counter spilledRecords;
  private final int partitions;
  private final int padding;
  private final byte[] written = new byte[SegmentWriter.BUFFER_BYTES];
  private final List<SpillFile> spills = new ArrayList<>();
  private final int indexLimit;
  private long heldIndexBytes;
  private int spillCount;
  private int fileCount;

  /** {@code combining} is null for a job without a combiner. */
  MapOutputFiles(
      JobConf job,
      MapOutputFile names,
      Combining<K, V> combining,
      KeyOrder order,
      RawComparator<K> comparator,
      TaskReporter reporter)
      throws IOException {
    this.job = job;
    this.names = names;
    this.combining = combining;
    this.order = order;
    this.comparator = comparator;
    this.reporter = reporter;
    progress = new StepProgress(reporter);
    local = FileSystem.getLocal(job).getRaw();
    codec =
        job.getCompressMapOutput()
            ? ReflectionUtils.newInstance(job.getMapOutputCompressorClass(DefaultCodec.class), job)
            : null;
    partitions = job.getNumReduceTasks();
    padding = CryptoUtils.cryptoPadding(job);
    indexLimit = job.getInt(MRJobConfig.INDEX_CACHE_MEMORY_LIMIT, 1 << 20);
    spilledRecords = reporter.getCounter(TaskCounter.SPILLED_RECORDS);
  }

  /** The records of one partition, to be written. */
  private interface Content {
    void write(int partition, SegmentWriter to) throws IOException;
  }

  /** Writes records that no longer fit in memory. */
  void spill(SortedRecords records) throws IOException {
    int limit = job.getInt(MRJobConfig.SPILL_FILES_COUNT_LIMIT, -1);
    if (limit >= 0 && spillCount >= limit) {
      throw new IOException(
          "Too many spill files got created, control it with "
              + MRJobConfig.SPILL_FILES_COUNT_LIMIT
              + ", current value: "
              + limit
              + ", current spill count: "
              + (spillCount + 1));
    }
    long began = System.nanoTime();
    SpillFile spill =
        spillFile(0, records.bytes(), (partition, to) -> write(records, partition, to));
    spillCount++;
    count();
    LOG.info(
        "Spill {} to {} in {} ms",
        spillCount,
        spill.file(),
        (System.nanoTime() - began) / 1_000_000);
  }

  /** A job that has all the counters that it may have goes on without this one. */
  private void count() {
    try {
      reporter.getCounter(SortingCollector.COUNTERS, "SPILLS").increment(1);
    } catch (LimitExceededException full) {
      LOG.info("Spills are not counted: {}", full.getMessage());
    }
  }

  /**
   * Writes another of the spills, of {@code spilled} bytes that are in files already and {@code
   * records} bytes of records.
   */
  private SpillFile spillFile(long spilled, long records, Content content) throws IOException {
    int number = fileCount++;
    Path file = place(spilled, records, size -> names.getSpillFileForWrite(number, size));
    SpillRecord index = new SpillRecord(partitions);
    write(file, index, content);
    long length = local.getFileStatus(file).getLen();
    long indexBytes = (long) partitions * INDEX_BYTES;
    SpillFile spill;
    if (heldIndexBytes < indexLimit) {
      heldIndexBytes += indexBytes;
      spill = SpillFile.indexed(file, length, index);
    } else {
      Path indexFile = names.getSpillIndexFileForWrite(number, indexBytes);
      spill = SpillFile.indexed(file, length, index, indexFile, job);
    }
    spills.add(spill);
    return spill;
  }

  /** Finds a local directory with room for so many bytes. */
  private interface Places {
    Path withRoom(long bytes) throws IOException;
  }

  /**
   * Where a file is to be, of {@code spilled} bytes that are in files already and {@code records}
   * bytes of records.
   */
  private Path place(long spilled, long records, Places places) throws IOException {
    long known = spilled + (long) partitions * HEADER_BYTES;
    try {
      return places.withRoom(known + records);
    } catch (DiskErrorException full) {
      long usual = (long) job.getInt(MRJobConfig.IO_SORT_MB, MRJobConfig.DEFAULT_IO_SORT_MB) << 20;
      if (codec == null || records <= usual) {
        throw full;
      }
      // Compressed, they may fit where they would not as they are. Of these, Hadoop's own never has
      // more at once.
      return places.withRoom(known + usual);
    }
  }

  /**
   * Writes the output: {@code rest}, which is in memory, merged with all that has been spilled.
   * {@code phase} hears how far that has come.
   */
  void finish(SortedRecords rest, Progress phase) throws IOException {
    boolean combine =
        combining != null
            && (!rest.isEmpty() || spillCount >= job.getInt(MRJobConfig.MAP_COMBINE_MIN_SPILLS, 3));
    int most = mostFiles();
    while (spills.size() > most) {
      mergeSmallest(Math.min(most, spills.size() - most + 1), combine);
    }
    Path output = place(bytesOf(spills), rest.bytes(), names::getOutputFileForWrite);
    Path outputIndex = names.getOutputIndexFileForWrite((long) partitions * INDEX_BYTES);
    SpillRecord index = new SpillRecord(partitions);
    if (spills.isEmpty()) {
      write(output, index, phased(phase, (partition, to) -> write(rest, partition, to)));
    } else {
      merge(spills, rest, combine, content -> write(output, index, phased(phase, content)));
    }
    IntermediateEncryptedStream.addSpillIndexFile(outputIndex, job);
    index.writeToFile(outputIndex, job);
    reporter
        .getCounter(TaskCounter.MAP_OUTPUT_MATERIALIZED_BYTES)
        .increment(local.getFileStatus(output).getLen());
    // The NodeManager, another user perhaps, serves it.
    if (!SERVED.equals(SERVED.applyUMask(FsPermission.getUMask(job)))) {
      local.setPermission(output, SERVED);
      local.setPermission(outputIndex, SERVED);
    }
  }

  private Content phased(Progress phase, Content content) {
    return (partition, to) -> {
      content.write(partition, to);
      phase.set((partition + 1f) / partitions);
    };
  }

  private int mostFiles() {
    int factor = job.getInt(MRJobConfig.IO_SORT_FACTOR, MRJobConfig.DEFAULT_IO_SORT_FACTOR);
    return mostFiles(
        mostStreams(codec, padding > 0, Runtime.getRuntime().maxMemory()), partitions, factor);
  }

  /** How many files may be read at once, of which each is decompressed or decrypted on the way. */
  static int mostStreams(CompressionCodec codec, boolean isEncrypted, long heap) {
    if (codec != null) {
      return CodecStreams.fitting(codec, heap);
    }
    return isEncrypted ? CodecStreams.MOST : MOST_FILES;
  }

  /**
   * How many files are merged at once, {@code factor} at least: each takes an open file, an index,
   * and one of {@code streams}.
   */
  static int mostFiles(int streams, int partitions, int factor) {
    long indexes = MOST_INDEX_BYTES / ((long) partitions * INDEX_BYTES);
    return (int) Math.max(Math.max(2, factor), Math.min(indexes, streams));
  }

  private static long bytesOf(List<SpillFile> some) {
    long bytes = 0;
    for (SpillFile one : some) {
      bytes += one.length();
    }
    return bytes;
  }

  /** Makes one spill of the {@code count} smallest. */
  private void mergeSmallest(int count, boolean combine) throws IOException {
    long began = System.nanoTime();
    spills.sort(Comparator.comparingLong(SpillFile::length));
    List<SpillFile> some = new ArrayList<>(spills.subList(0, count));
    spills.subList(0, count).clear();
    merge(some, null, combine, content -> spillFile(bytesOf(some), 0, content));
    LOG.info("{} spills merged in {} ms", count, (System.nanoTime() - began) / 1_000_000);
  }

  /** Where what has been merged goes. */
  private interface Target {
    void write(Content content) throws IOException;
  }

  /** Writes {@code some}, and {@code rest} if there is one, as one; then {@code some} are gone. */
  private void merge(List<SpillFile> some, SortedRecords rest, boolean combine, Target target)
      throws IOException {
    List<FSDataInputStream> open = new ArrayList<>();
    List<SpillRecord> indexes = new ArrayList<>();
    try {
      for (SpillFile one : some) {
        open.add(local.open(one.file()));
        indexes.add(one.index(job));
      }
      int most =
          (int) Math.max(LEAST_READ_BYTES, Math.min(READ_BYTES, MOST_READ_BYTES / some.size()));
      target.write(
          (partition, to) -> {
            List<RecordCursor> cursors = new ArrayList<>();
            long bytes = 0;
            for (int number = 0; number < some.size(); number++) {
              IndexRecord part = indexes.get(number).getIndex(partition);
              if (part.rawLength > 2 + padding) {
                cursors.add(segment(open.get(number), some.get(number).file(), part, most));
                bytes += part.rawLength;
              }
            }
            if (rest != null) {
              cursors.addAll(rest.partition(partition));
            }
            write(cursors, bytes, combine, to);
          });
    } finally {
      for (FSDataInputStream one : open) {
        IOUtils.closeStream(one);
      }
    }
    for (SpillFile one : some) {
      one.delete(local);
    }
  }

  private RecordCursor segment(
      FSDataInputStream file, Path name, IndexRecord part, int bufferBytes) {
    return new SegmentCursor(
        () -> {
          file.seek(part.startOffset);
          FSDataInputStream plain =
              IntermediateEncryptedStream.wrapIfNecessary(job, new Unclosed(file), name);
          return SegmentCursor.within(plain, part.startOffset);
        },
        name.toString(),
        part.partLength - padding,
        codec,
        job,
        bufferBytes);
  }

  /** The file of all partitions of a spill, which the end of one does not close. */
  private static final class Unclosed extends FSDataInputStream {
    Unclosed(FSDataInputStream file) {
      super(file);
    }

    @Override
    public void close() {}
  }

  private void write(SortedRecords sorted, int partition, SegmentWriter to) throws IOException {
    List<RecordCursor> runs = sorted.partition(partition);
    if (combining != null || runs.size() > 1) {
      write(runs, 1, combining != null, to);
      return;
    }
    for (RecordCursor records : runs) {
      while (records.next()) {
        to.append(records);
        progress.step();
      }
    }
  }

  /** Writes records that are merged, and combined if there are any. */
  private void write(List<RecordCursor> cursors, long bytes, boolean combine, SegmentWriter to)
      throws IOException {
    MergedRecords merged = new MergedRecords(cursors, order, comparator, bytes, reporter);
    try {
      if (combine && !cursors.isEmpty()) {
        combining.run(merged, to);
        merged.rethrow();
      } else {
        while (merged.next()) {
          to.append(merged.current());
        }
      }
    } finally {
      // A combiner may have stopped before the end.
      merged.close();
    }
  }

  private void write(Path path, SpillRecord index, Content content) throws IOException {
    FSDataOutputStream file = local.create(path, true, 4096);
    boolean done = false;
    try {
      for (int partition = 0; partition < partitions; partition++) {
        IndexRecord part = new IndexRecord();
        part.startOffset = file.getPos();
        FSDataOutputStream out =
            IntermediateEncryptedStream.wrapIfNecessary(job, file, false, path);
        SegmentWriter writer = new SegmentWriter(out, codec, written);
        content.write(partition, writer);
        writer.finish();
        reporter.progress();
        if (out != file) {
          out.close();
        }
        spilledRecords.increment(writer.records());
        part.rawLength = writer.rawLength() + padding;
        part.partLength = writer.partLength() + padding;
        index.putIndex(part, partition);
      }
      done = true;
    } finally {
      if (done) {
        file.close();
      } else {
        IOUtils.closeStream(file);
      }
    }
  }
}
