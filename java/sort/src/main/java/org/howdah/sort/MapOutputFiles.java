package org.howdah.sort;

import java.io.IOException;
import java.util.ArrayList;
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
import org.apache.hadoop.mapreduce.security.IntermediateEncryptedStream;
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
  private static final int PROGRESS_RECORDS = 1 << 10;
  private static final int READ_BYTES = 1 << 18;
  private static final int LEAST_READ_BYTES = 1 << 13;
  private static final long MOST_READ_BYTES = 32L << 20;

  private final JobConf job;
  private final MapOutputFile names;
  private final FileSystem local;
  private final CompressionCodec codec;
  private final Combining<K, V> combining;
  private final KeyOrder order;
  private final RawComparator<K> comparator;
  private final TaskReporter reporter;
  private final Counters.Counter spilledRecords;
  private final Counters.Counter spillCounter;
  private final int partitions;
  private final int padding;
  private final byte[] written = new byte[SegmentWriter.BUFFER_BYTES];
  private final List<Path> spills = new ArrayList<>();
  private final List<SpillRecord> indexes = new ArrayList<>();

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
    local = FileSystem.getLocal(job).getRaw();
    codec =
        job.getCompressMapOutput()
            ? ReflectionUtils.newInstance(job.getMapOutputCompressorClass(DefaultCodec.class), job)
            : null;
    partitions = job.getNumReduceTasks();
    padding = CryptoUtils.cryptoPadding(job);
    spilledRecords = reporter.getCounter(TaskCounter.SPILLED_RECORDS);
    spillCounter = reporter.getCounter(SortingCollector.COUNTERS, "SPILLS");
  }

  /** The records of one partition, to be written. */
  private interface Content {
    void write(int partition, SegmentWriter to) throws IOException;
  }

  /** Writes records that no longer fit in memory. */
  void spill(SortedRecords records) throws IOException {
    int limit = job.getInt(MRJobConfig.SPILL_FILES_COUNT_LIMIT, -1);
    if (limit >= 0 && spills.size() >= limit) {
      throw new IOException(
          "Too many spill files got created, control it with "
              + MRJobConfig.SPILL_FILES_COUNT_LIMIT
              + ", current value: "
              + limit
              + ", current spill count: "
              + (spills.size() + 1));
    }
    long began = System.nanoTime();
    long size = records.bytes() + (long) partitions * HEADER_BYTES;
    Path file = names.getSpillFileForWrite(spills.size(), size);
    SpillRecord index = new SpillRecord(partitions);
    write(file, index, (partition, to) -> write(records, partition, to));
    spills.add(file);
    indexes.add(index);
    spillCounter.increment(1);
    LOG.info(
        "Spill {} to {} in {} ms", spills.size(), file, (System.nanoTime() - began) / 1_000_000);
  }

  /** Writes the output: {@code rest}, which is in memory, merged with all that has been spilled. */
  void finish(SortedRecords rest) throws IOException {
    long size = rest.bytes() + (long) partitions * HEADER_BYTES;
    for (Path spill : spills) {
      size += local.getFileStatus(spill).getLen();
    }
    Path output = names.getOutputFileForWrite(size);
    Path outputIndex = names.getOutputIndexFileForWrite((long) partitions * 24);
    SpillRecord index = new SpillRecord(partitions);
    if (spills.isEmpty()) {
      write(output, index, (partition, to) -> write(rest, partition, to));
    } else {
      merge(output, index, rest);
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

  private void merge(Path output, SpillRecord index, SortedRecords rest) throws IOException {
    List<FSDataInputStream> open = new ArrayList<>();
    try {
      for (Path spill : spills) {
        open.add(local.open(spill));
      }
      int most =
          (int) Math.max(LEAST_READ_BYTES, Math.min(READ_BYTES, MOST_READ_BYTES / spills.size()));
      boolean combine =
          combining != null
              && (!rest.isEmpty()
                  || spills.size() >= job.getInt(MRJobConfig.MAP_COMBINE_MIN_SPILLS, 3));
      write(
          output,
          index,
          (partition, to) -> {
            List<RecordCursor> cursors = new ArrayList<>();
            long bytes = 0;
            for (int spill = 0; spill < spills.size(); spill++) {
              IndexRecord part = indexes.get(spill).getIndex(partition);
              cursors.add(segment(open.get(spill), spills.get(spill), part, most));
              bytes += part.rawLength;
            }
            cursors.addAll(rest.partition(partition));
            boolean isEmpty = rest.isEmpty(partition) && bytes == (2L + padding) * spills.size();
            MergedRecords merged = new MergedRecords(cursors, order, comparator, bytes);
            if (combine && !isEmpty) {
              combining.run(merged, to);
            } else {
              copy(merged, to);
            }
          });
    } finally {
      for (FSDataInputStream one : open) {
        IOUtils.closeStream(one);
      }
    }
    for (Path spill : spills) {
      local.delete(spill, false);
    }
  }

  private RecordCursor segment(
      FSDataInputStream file, Path name, IndexRecord part, int bufferBytes) {
    return new SegmentCursor(
        () -> {
          file.seek(part.startOffset);
          return IntermediateEncryptedStream.wrapIfNecessary(job, new Unclosed(file), name);
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
    if (combining != null && !runs.isEmpty()) {
      combining.run(new MergedRecords(runs, order, comparator, 1), to);
    } else if (runs.size() > 1) {
      copy(new MergedRecords(runs, order, comparator, 1), to);
    } else {
      for (RecordCursor records : runs) {
        while (records.next()) {
          to.append(records);
          if (to.records() % PROGRESS_RECORDS == 0) {
            reporter.progress();
          }
        }
      }
    }
  }

  private void copy(MergedRecords merged, SegmentWriter to) throws IOException {
    while (merged.next()) {
      to.append(merged.current());
      if (merged.records() % PROGRESS_RECORDS == 0) {
        reporter.progress();
      }
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
