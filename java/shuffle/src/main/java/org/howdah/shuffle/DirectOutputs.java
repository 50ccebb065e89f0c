package org.howdah.shuffle;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.attribute.UserPrincipal;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.IndexRecord;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.SpillRecord;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.task.reduce.MapHost;

/**
 * Map outputs that lie in the directories of this container's own NodeManager: found by the id of
 * the attempt, below the directory of this application, and read without anybody's help.
 */
final class DirectOutputs<K, V> {
  /** Whether map outputs of this node are read as files; otherwise all are fetched. */
  static final String DIRECT = "howdah.shuffle.direct";

  // Smaller ones are read at once: a file to open when the merge begins costs more.
  private static final long SMALL = 1 << 18;

  private final MapOutputs<K, V> outputs;
  private final JobConf job;
  private final String node;
  private final List<File> directories = new ArrayList<>();

  /** {@code node} is the host name of this container's NodeManager; null outside of a container. */
  DirectOutputs(MapOutputs<K, V> outputs, String node) {
    this.outputs = outputs;
    job = outputs.context().getJobConf();
    this.node = node;
    if (job.getBoolean(DIRECT, true) && node != null) {
      for (String directory : job.getTrimmedStrings(MRConfig.LOCAL_DIR)) {
        directories.add(new File(directory));
      }
    }
  }

  /** Whether {@code host} is this container's own. */
  boolean isHere(MapHost host) {
    String name = host.getHostName();
    int colon = name.lastIndexOf(':');
    return !directories.isEmpty()
        && name.substring(0, colon < 0 ? name.length() : colon).equalsIgnoreCase(node);
  }

  /**
   * The output of {@code map}, its checksum compared; null where it is not below the directories of
   * this node.
   *
   * @throws IOException if it is there and not as it should be
   */
  Fetched<K, V> open(TaskAttemptID map, MapHost host) throws IOException {
    for (File directory : directories) {
      File file = new File(directory, "output/" + map + "/file.out");
      File index = new File(file.getPath() + ".index");
      // With several directories, the two may lie in different ones.
      File where = index.isFile() ? index : elsewhere(map);
      if (file.isFile() && where != null) {
        return open(map, host, file, where, directory);
      }
    }
    return null;
  }

  private File elsewhere(TaskAttemptID map) {
    for (File directory : directories) {
      File index = new File(directory, "output/" + map + "/file.out.index");
      if (index.isFile()) {
        return index;
      }
    }
    return null;
  }

  private Fetched<K, V> open(TaskAttemptID map, MapHost host, File file, File index, File directory)
      throws IOException {
    UserPrincipal owner = Files.getOwner(directory.toPath());
    if (!owner.equals(Files.getOwner(file.toPath(), LinkOption.NOFOLLOW_LINKS))) {
      throw new IOException(file + " does not belong to " + owner.getName());
    }
    Path path = new Path(file.toURI());
    IndexRecord part =
        new SpillRecord(new Path(index.toURI()), job)
            .getIndex(outputs.context().getReduceId().getTaskID().getId());
    if (part.startOffset < 0
        || part.rawLength < 2
        || part.partLength < 0
        || part.startOffset + part.partLength > file.length()) {
      throw new IOException(file + " is shorter than its index says");
    }
    try (FSDataInputStream in = outputs.local().open(path)) {
      in.seek(part.startOffset);
      if (part.rawLength <= SMALL && outputs.reserve(part.rawLength)) {
        Fetched<K, V> read = Fetched.inMemory(outputs, map, part.partLength, part.rawLength);
        try {
          read.shuffle(
              host, in, part.partLength, part.rawLength, null, outputs.context().getReporter());
        } catch (IOException damaged) {
          read.abort();
          throw damaged;
        }
        return read;
      }
      Fetched.check(in, part.partLength, null, outputs.context().getReporter(), file.getPath());
    }
    return Fetched.inFile(
        outputs, map, path, part.startOffset, part.partLength, part.rawLength, false);
  }
}
