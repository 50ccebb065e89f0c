package org.howdah.shuffle;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Paths;
import java.nio.file.attribute.UserPrincipal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSError;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.IndexRecord;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.task.reduce.MapHost;
import org.apache.hadoop.util.Time;
import org.howdah.sort.SegmentCursor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Map outputs that lie in the directories of this container's own NodeManager, or, where
 * NodeManagers keep theirs on a file system that all hosts share, of another one: found by the id
 * of the attempt, below the directory of this application, and read without anybody's help.
 */
final class DirectOutputs<K, V> implements Transport<K, V> {
  private static final Logger LOG = LoggerFactory.getLogger(DirectOutputs.class);

  /** Whether map outputs are read as files where they can be; otherwise all are fetched. */
  static final String DIRECT = "howdah.shuffle.direct";

  /**
   * The beginning of every NodeManager's local directory, with {@code {host}} for its host name,
   * where that is on a file system that all hosts share. It is believed only if it is right for
   * this container's own host.
   */
  static final String SHARED = "howdah.shuffle.shared";

  private static final String HOST = "{host}";

  // Smaller ones are read at once: a file to open when the merge begins costs more.
  private static final long SMALL = 1 << 18;

  private final MapOutputs<K, V> outputs;
  private final String node;
  private final String shared;
  private final List<String> directories = new ArrayList<>();
  // Whoever asks again for one of these would have it read and fail again.
  private final Set<TaskAttemptID> damaged = new HashSet<>();
  private UserPrincipal owner;

  /** {@code node} is the host name of this container's NodeManager; null outside of a container. */
  DirectOutputs(MapOutputs<K, V> outputs, String node) {
    this.outputs = outputs;
    this.node = node;
    JobConf job = outputs.context().getJobConf();
    shared = job.getTrimmed(SHARED, "");
    if (job.getBoolean(DIRECT, true) && node != null) {
      Collections.addAll(directories, job.getTrimmedStrings(MRConfig.LOCAL_DIR));
    }
  }

  @Override
  public String name() {
    return "DIRECT";
  }

  @Override
  public void disconnect() {}

  @Override
  public void fetch(MapHost host, Set<TaskAttemptID> maps, Receiver<K, V> to) {
    List<File> places = directoriesOf(host);
    if (places.isEmpty()) {
      return;
    }
    for (TaskAttemptID map : maps) {
      if (!to.wantsMore()) {
        return;
      }
      if (damaged.contains(map)) {
        continue;
      }
      long began = Time.monotonicNow();
      try {
        Fetched<K, V> output = open(map, host, places);
        if (output != null) {
          to.receive(output, began);
        }
      } catch (IOException | RuntimeException | FSError notAsItShouldBe) {
        // Fetched, it fails again, and Hadoop hears of it.
        LOG.warn("The output of " + map + " cannot be read from here", notAsItShouldBe);
        damaged.add(map);
      } catch (LinkageError missing) {
        // The cluster's local file system lacks a class or its native library here.
        LOG.warn("No map output can be read from here, all are fetched", missing);
        directories.clear();
        return;
      }
    }
  }

  /**
   * The directories of this application on {@code host} that can be read from here; none if it is
   * not known.
   */
  private List<File> directoriesOf(MapHost host) {
    String name = host.getHostName();
    int colon = name.lastIndexOf(':');
    String there = name.substring(0, colon < 0 ? name.length() : colon);
    List<File> found = new ArrayList<>();
    String own = shared.replace(HOST, String.valueOf(node));
    for (String directory : directories) {
      if (there.equalsIgnoreCase(node)) {
        found.add(new File(directory));
      } else if (shared.contains(HOST) && directory.startsWith(own)) {
        found.add(new File(shared.replace(HOST, there) + directory.substring(own.length())));
      }
    }
    return found;
  }

  /**
   * The output of {@code map}, its checksum compared; null where it is not below {@code places}.
   *
   * @throws IOException if it is there and not as it should be
   */
  private Fetched<K, V> open(TaskAttemptID map, MapHost host, List<File> places)
      throws IOException {
    // With several directories, the two may lie in different ones.
    File file = find(places, "output/" + map + "/file.out");
    File index = find(places, "output/" + map + "/file.out.index");
    return file == null || index == null ? null : open(map, host, file, index);
  }

  private static File find(List<File> places, String name) {
    for (File place : places) {
      File file = new File(place, name);
      if (file.isFile()) {
        return file;
      }
    }
    return null;
  }

  private Fetched<K, V> open(TaskAttemptID map, MapHost host, File output, File index)
      throws IOException {
    checkOwner(output);
    checkOwner(index);
    Path path = new Path(output.toURI());
    IndexRecord part = OutputIndex.read(index, outputs.context().getReduceId().getTaskID().getId());
    if (!outputs.isPossible(part.partLength, part.rawLength)
        || part.startOffset < 0
        || part.partLength > output.length() - part.startOffset) {
      throw new IOException(
          String.format(
              "%s of %d bytes has no %d from %d on that are an output of %d, as its index says",
              output, output.length(), part.partLength, part.startOffset, part.rawLength));
    }
    try (FSDataInputStream file = outputs.local().open(path)) {
      file.seek(part.startOffset);
      InputStream in = SegmentCursor.within(file, part.startOffset);
      byte[] bytes = part.rawLength <= SMALL ? outputs.take(part.rawLength) : null;
      if (bytes != null) {
        Fetched<K, V> read =
            Fetched.inBoth(outputs, map, bytes, path, part.startOffset, part.partLength);
        try {
          read.shuffle(
              host, in, part.partLength, part.rawLength, null, outputs.context().getReporter());
        } catch (IOException | RuntimeException | FSError | LinkageError damaged) {
          read.abort();
          throw damaged;
        }
        return read;
      }
      boolean isPlain = outputs.context().getCodec() == null;
      Fetched.check(
          in, part.partLength, isPlain, null, outputs.context().getReporter(), output.getPath());
    }
    return Fetched.inFile(
        outputs, map, path, part.startOffset, part.partLength, part.rawLength, false);
  }

  /** Neither another user's file nor a way to one. */
  private void checkOwner(File file) throws IOException {
    if (owner == null) {
      owner = Files.getOwner(Paths.get(directories.get(0)));
    }
    java.nio.file.Path path = file.toPath();
    if (!Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)
        || !owner.equals(Files.getOwner(path, LinkOption.NOFOLLOW_LINKS))) {
      throw new IOException(file + " is not a file of " + owner.getName());
    }
  }
}
