package org.howdah.filesystem;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.fs.PathIOException;
import org.apache.hadoop.security.AccessControlException;

/**
 * The directory that is the root of a file system, and the only way from Hadoop's paths to the
 * machine's: no path and no symbolic link leads out of it.
 */
final class Mount {
  /** By device. To find it all mounts are read, and {@code FileContext} opens one for each call. */
  private static final Map<Long, String> TYPES = new ConcurrentHashMap<>();

  private final URI uri;
  private final Settings settings;
  private final Path root;
  private final String prefix;
  private final boolean confined;
  private final Path realRoot;
  private final long device;

  /** Which directory of which device the root was when it was looked at last. */
  private volatile Object sameRoot;

  /** Devices of the directories above: what the root would be on if it were not mounted. */
  private final Set<Long> outside;

  private final boolean mounted;

  /** Where a status was asked for last. */
  private volatile Inside last;

  /**
   * @throws IOException if the root is not there, or is not what the keys demand
   */
  Mount(URI uri, Settings settings) throws IOException {
    this.uri = uri;
    this.settings = settings;
    root = Paths.get(settings.mount(uri.getAuthority())).normalize();
    confined = root.getNameCount() > 0;
    prefix = confined ? root.toString() : "";
    if (!isDirectory()) {
      throw new FileNotFoundException(told("it is not a directory on this machine"));
    }
    realRoot = root.toRealPath();
    device = Entry.followed(realRoot).device;
    sameRoot = key(realRoot);
    outside = devicesOutside(realRoot, device);
    mounted = !outside.isEmpty();
    if (confined && settings.mountRequired() && !mounted) {
      throw new Refusal(
          told(
              "no file system is mounted there; mount it, or set "
                  + settings.name(Key.MOUNT_REQUIRED)
                  + " to false if a directory of this machine's own disk is meant"));
    }
    if (!confined && settings.mountRequired()) {
      throw new Refusal(
          told(
              "where nothing is mounted cannot be told of the machine's own root; set "
                  + settings.name(Key.MOUNT)
                  + " to the mount, or "
                  + settings.name(Key.MOUNT_REQUIRED)
                  + " to false"));
    }
    checkType();
  }

  Path root() {
    return root;
  }

  /** The type of the file system that the root is on, as {@code df -T} names it. */
  private String type() throws IOException {
    String type = MountTable.ofThisProcess().type(realRoot);
    return type == null ? Files.getFileStore(root).type() : type;
  }

  /** The same, as it was when this process first asked for that file system. */
  String knownType() throws IOException {
    String known = TYPES.get(device);
    if (known == null) {
      known = type();
      TYPES.put(device, known);
    }
    return known;
  }

  /**
   * Where a path is. Links on the way to it are followed if they stay inside; a link at its end is
   * not followed.
   *
   * @param path of this file system, absolute
   * @throws AccessControlException if a link on the way leads out
   */
  Path locate(org.apache.hadoop.fs.Path path) throws IOException {
    Path located = map(path);
    if (located.getNameCount() > root.getNameCount()) {
      confine(located.getParent(), path);
    }
    return located;
  }

  /** As {@link #locate}; a link at the end is followed too, and must not lead out either. */
  Path locateTarget(org.apache.hadoop.fs.Path path) throws IOException {
    Path located = locate(path);
    if (confined && Entry.isLink(located)) {
      confine(located, path);
    }
    return located;
  }

  /** A path that is there, and what it leads to. */
  static final class Found {
    final Path located;
    final Entry entry;

    Found(Path located, Entry entry) {
      this.located = located;
      this.entry = entry;
    }
  }

  /**
   * As {@link #locateTarget}, of something that has to be there. Asks the file system once, which
   * is what a name costs on a network, and once more for a link.
   *
   * @throws NoSuchFileException also if something on the way is a file, so that nothing can be
   *     there
   */
  Found find(org.apache.hadoop.fs.Path path) throws IOException {
    return found(locate(path), path);
  }

  /**
   * As {@link #find}, for a status: that a directory is inside is asked once for many of them.
   * Nothing is read, written or changed by what this finds.
   */
  Found look(org.apache.hadoop.fs.Path path) throws IOException {
    Path located = map(path);
    if (confined && located.getNameCount() > root.getNameCount()) {
      Path directory = located.getParent();
      Inside known = last;
      if (known == null || !known.isNow(directory)) {
        confine(directory, path);
        last = new Inside(directory);
      }
    }
    return found(located, path);
  }

  /** A directory that was inside a moment ago. */
  private static final class Inside {
    private static final long MOMENT_NANOSECONDS = 20_000_000;

    private final Path directory;
    private final long since = System.nanoTime();

    Inside(Path directory) {
      this.directory = directory;
    }

    boolean isNow(Path asked) {
      return directory.equals(asked) && System.nanoTime() - since < MOMENT_NANOSECONDS;
    }
  }

  private Found found(Path located, org.apache.hadoop.fs.Path path) throws IOException {
    try {
      Entry entry = Entry.of(located);
      if (entry.isLink()) {
        confine(located, path);
        entry = Entry.followed(located);
      }
      return new Found(located, entry);
    } catch (AccessDeniedException | NoSuchFileException | AccessControlException e) {
      throw e;
    } catch (IOException e) {
      if (Tree.isUnderFile(located)) {
        throw new NoSuchFileException(located.toString());
      }
      throw e;
    }
  }

  /**
   * What a link at a place leads to; the place itself if there is none.
   *
   * @throws AccessControlException if it leads out
   */
  Path resolve(Path located, org.apache.hadoop.fs.Path path) throws IOException {
    if (!Entry.isLink(located)) {
      return located;
    }
    confine(located, path);
    return located.toRealPath();
  }

  /**
   * The path of this file system at which a place on the machine is; the inverse of {@link
   * #locate}.
   */
  String unlocate(Path located) {
    String text = located.toString().substring(prefix.length());
    return text.isEmpty() ? "/" : text;
  }

  boolean isInside(Path real) {
    return real.startsWith(realRoot);
  }

  /**
   * Called before a file is opened or anything is made. One system call.
   *
   * @throws IOException if what was mounted when the file system was opened no longer is, nor
   *     anything else that the keys allow
   */
  void check() throws IOException {
    if (!confined) {
      return;
    }
    Object key;
    long now;
    try {
      key = key(root);
      if (sameRoot.equals(key)) {
        return;
      }
      now = Entry.followed(root).device;
    } catch (IOException gone) {
      throw new Refusal(told("it cannot be reached any more: " + Errors.said(gone)), gone);
    }
    if (mounted && outside.contains(now)) {
      throw new Refusal(
          told("what was mounted there no longer is; nothing is read or written until it is back"));
    }
    // Also where the device has its number: the kernel gives those of mounts that are gone again.
    // (Roots of FUSE have their own number in common, too: one in another's place goes unnoticed.)
    checkType();
    sameRoot = key;
  }

  /** Device and number of a directory; cheaper than an {@link Entry}, and can only be compared. */
  private static Object key(Path directory) throws IOException {
    return Files.readAttributes(directory, BasicFileAttributes.class).fileKey();
  }

  private Path map(org.apache.hadoop.fs.Path path) throws IOException {
    String text = path.toUri().getPath();
    if (text.contains("/..")) {
      refuseUpward(text, path);
    }
    try {
      return confined ? Paths.get(text.equals("/") ? prefix : prefix + text) : Paths.get(text);
    } catch (InvalidPathException e) {
      throw new PathIOException(
          path.toString(),
          e.getReason()
              + "; this JVM writes file names in "
              + System.getProperty("sun.jnu.encoding")
              + ", and LC_ALL=C.UTF-8 in its environment lets it write any",
          e);
    }
  }

  private static void refuseUpward(String text, org.apache.hadoop.fs.Path path) throws IOException {
    if (Arrays.asList(text.split("/")).contains("..")) {
      throw new PathIOException(path.toString(), "the path leads above the root");
    }
  }

  /** What is missing cannot lead anywhere, so the nearest directory that exists decides. */
  private void confine(Path located, org.apache.hadoop.fs.Path path) throws IOException {
    if (!confined) {
      return;
    }
    for (Path there = located; there != null; there = there.getParent()) {
      Path real;
      try {
        real = there.toRealPath();
      } catch (NoSuchFileException missing) {
        continue;
      } catch (IOException e) {
        if (Tree.isUnderFile(there)) {
          continue;
        }
        throw Errors.of(e, "reach", path);
      }
      if (!real.startsWith(realRoot)) {
        throw new AccessControlException(
            path + ": a symbolic link on the way leads out of " + root + " to " + real);
      }
      return;
    }
  }

  /** None where nothing is mounted between the root and the machine's own. */
  private static Set<Long> devicesOutside(Path real, long device) throws IOException {
    Set<Long> found = new HashSet<>();
    for (Path parent = real.getParent(); parent != null; parent = parent.getParent()) {
      found.add(Entry.followed(parent).device);
    }
    found.remove(device);
    return found;
  }

  private void checkType() throws IOException {
    String[] types = settings.mountTypes();
    if (types.length > 0 && !Arrays.asList(types).contains(type())) {
      throw new Refusal(
          told(
              "it is on a file system of type "
                  + type()
                  + ", but "
                  + settings.name(Key.MOUNT_TYPE)
                  + " demands "
                  + String.join(" or ", types)));
    }
  }

  private boolean isDirectory() throws IOException {
    try {
      return Entry.followed(root).isDirectory();
    } catch (NoSuchFileException e) {
      return false;
    } catch (IOException e) {
      throw new Refusal(told("it cannot be reached: " + Errors.said(e)), e);
    }
  }

  private String told(String what) {
    return "The root of " + uri + " is " + root + ": " + what;
  }
}
