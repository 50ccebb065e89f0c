package org.howdah.workloads;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.lib.input.SequenceFileInputFormat;

/**
 * Sequence files of several directories. Those of one directory, whose order matters, are read by
 * one map each, from the first record to the last; others may be split.
 */
final class WholeSequences extends SequenceFileInputFormat<BytesWritable, Writable> {
  private static final String DIRECTORY = "howdah.check.whole";

  /** Says whose files are read whole, and returns how many these are. */
  static int configure(Job job, String directory) throws IOException {
    Configuration conf = job.getConfiguration();
    Path path = new Path(directory);
    conf.set(DIRECTORY, pathOf(path.getFileSystem(conf).makeQualified(path)));
    int files = 0;
    for (FileStatus file : new WholeSequences().listStatus(job)) {
      files += has(conf, file.getPath()) ? 1 : 0;
    }
    return files;
  }

  /** Whether the file is one of those that are read whole. */
  static boolean has(Configuration conf, Path file) {
    return pathOf(file.getParent()).equals(conf.get(DIRECTORY));
  }

  /** Without the file system, which may go by several names. */
  private static String pathOf(Path path) {
    return path.toUri().getPath();
  }

  @Override
  protected boolean isSplitable(JobContext context, Path file) {
    return !has(context.getConfiguration(), file) && super.isSplitable(context, file);
  }
}
