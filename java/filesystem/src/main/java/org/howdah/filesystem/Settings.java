package org.howdah.filesystem;

import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.permission.FsCreateModes;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.StringUtils;

/** The keys of one scheme, read once; unknown ones are errors. */
final class Settings {
  /** Below this a buffer costs more in calls than it saves in memory. */
  private static final int SMALLEST_BUFFER = 4096;

  /** Types of file system whose clients may keep what is written after the file was closed. */
  private static final List<String> KEEP_AFTER_CLOSE =
      Arrays.asList("lustre", "ceph", "fuse.ceph-fuse", "gpfs");

  final String scheme;
  final long blockSize;
  final String[] blockHosts;
  final int bufferSize;
  final int buffersAhead;
  final int buffersBehind;
  final Speed speed;
  final boolean syncDirectories;
  final boolean createAtomic;
  final boolean checksum;
  final long preallocate;
  final boolean renameNative;
  final int listParallel;
  final int threads;
  final String layout;
  final String lfs;
  private final Configuration conf;

  /** Both change at once. */
  private volatile Umask umask = new Umask(null, 0);

  private static final class Umask {
    final String text;
    final int bits;

    Umask(String text, int bits) {
      this.text = text;
      this.bits = bits;
    }
  }

  /**
   * @throws IllegalArgumentException for a key of this scheme that does not exist or has a value it
   *     cannot have
   */
  Settings(String scheme, Configuration conf) {
    this.scheme = scheme;
    this.conf = conf;
    refuseUnknown();
    blockSize = atLeast(Key.BLOCK_SIZE, 1);
    blockHosts = StringUtils.getTrimmedStrings(text(Key.BLOCK_HOSTS));
    long buffer = atLeast(Key.BUFFER_SIZE, SMALLEST_BUFFER);
    if (buffer > 1 << 30) {
      throw wrong(Key.BUFFER_SIZE, "at most 1g");
    }
    bufferSize = (int) buffer;
    buffersAhead = buffers(Key.READ_AHEAD);
    buffersBehind = buffers(Key.WRITE_BEHIND);
    speed = new Speed(atLeast(Key.BACKGROUND_BELOW, 1));
    syncDirectories = flag(Key.SYNC_DIRECTORIES);
    createAtomic = flag(Key.CREATE_ATOMIC);
    checksum = flag(Key.CHECKSUM);
    preallocate = atLeast(Key.PREALLOCATE, 0);
    renameNative = flag(Key.RENAME_NATIVE);
    listParallel = (int) Math.min(Integer.MAX_VALUE, atLeast(Key.LIST_PARALLEL, 1));
    threads = (int) Math.min(1024, atLeast(Key.THREADS, 1));
    layout = text(Key.LAYOUT);
    lfs = text(Key.LFS);
  }

  String name(Key key) {
    return "fs." + scheme + "." + key.suffix;
  }

  /** Whether this is the lustrefs scheme, which stands for a mount of its own. */
  boolean isLustre() {
    return scheme.equals(LustreFileSystem.SCHEME);
  }

  /**
   * @param authority of the file system's URI, or null
   * @throws IllegalArgumentException if no root is set for it
   */
  String mount(String authority) {
    String key = name(Key.MOUNT) + (authority == null ? "" : "." + authority);
    String usual = authority == null && !isLustre() ? "/" : "";
    String mount = conf.getTrimmed(key, usual);
    if (mount.isEmpty()) {
      throw new IllegalArgumentException(
          key
              + " is not set: it is the directory that "
              + scheme
              + "://"
              + (authority == null ? "" : authority)
              + "/ is");
    }
    if (!mount.startsWith("/")) {
      throw new IllegalArgumentException(key + " is " + mount + ": it has to be an absolute path");
    }
    return mount;
  }

  boolean mountRequired() {
    return text(Key.MOUNT_REQUIRED).isEmpty() ? isLustre() : flag(Key.MOUNT_REQUIRED);
  }

  String[] mountTypes() {
    return StringUtils.getTrimmedStrings(text(Key.MOUNT_TYPE));
  }

  /**
   * Whether closing a file waits for the storage.
   *
   * @param type of the file system that is mounted
   */
  boolean syncOnClose(String type) {
    return text(Key.SYNC_ON_CLOSE).isEmpty()
        ? KEEP_AFTER_CLOSE.contains(type)
        : flag(Key.SYNC_ON_CLOSE);
  }

  /**
   * Permissions less the umask, which is read each time, as programs change it while they run; what
   * they were without is kept in them.
   */
  FsPermission masked(FsPermission asked) {
    if (asked.getUnmasked() != null) {
      return asked;
    }
    String text = conf.get(FsPermission.UMASK_LABEL, "");
    Umask known = umask;
    if (!text.equals(known.text)) {
      known = new Umask(text, FsPermission.getUMask(conf).toShort());
      umask = known;
    }
    return FsCreateModes.create(new FsPermission((short) (asked.toShort() & ~known.bits)), asked);
  }

  /** What {@code createFile(path).opt(…)} and {@code must(…)} may say, for either scheme. */
  static boolean isOption(String option, Key key) {
    return option.equals("fs.posixfs." + key.suffix) || option.equals("fs.lustrefs." + key.suffix);
  }

  private String text(Key key) {
    return conf.getTrimmed(name(key), key.usual);
  }

  private boolean flag(Key key) {
    String value = text(key);
    if (!value.equals("true") && !value.equals("false")) {
      throw wrong(key, "true or false");
    }
    return value.equals("true");
  }

  private long atLeast(Key key, long least) {
    long value;
    try {
      value = StringUtils.TraditionalBinaryPrefix.string2long(text(key));
    } catch (IllegalArgumentException e) {
      throw wrong(key, "a number of bytes or entries, such as 4m");
    }
    if (value < least) {
      throw wrong(key, "at least " + least);
    }
    return value;
  }

  private int buffers(Key key) {
    return (int) Math.min(1024, (atLeast(key, 0) + bufferSize - 1) / bufferSize);
  }

  private IllegalArgumentException wrong(Key key, String expected) {
    return new IllegalArgumentException(name(key) + " is " + text(key) + ": expected " + expected);
  }

  private void refuseUnknown() {
    String prefix = "fs." + scheme + ".";
    Map<String, String> known = new HashMap<>();
    for (Key key : Key.values()) {
      known.put(key.suffix, key.usual);
    }
    known.put("impl", "");
    known.put("impl.disable.cache", "");
    for (Map.Entry<String, String> set : conf.getPropsWithPrefix(prefix).entrySet()) {
      String name = set.getKey();
      boolean isRoot = name.startsWith(Key.MOUNT.suffix + ".");
      if (!known.containsKey(name) && !(isRoot && set.getValue().trim().startsWith("/"))) {
        throw new IllegalArgumentException(
            prefix
                + name
                + " is not a key of this file system"
                + (isRoot ? ", nor an absolute path, as the root of an authority is" : "")
                + "; there are "
                + sorted(known));
      }
    }
  }

  private static String sorted(Map<String, String> known) {
    String[] names = known.keySet().toArray(new String[0]);
    Arrays.sort(names);
    return String.join(", ", Collections.unmodifiableList(Arrays.asList(names)));
  }
}
