package org.howdah.filesystem;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.permission.FsPermission;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How Lustre spreads files over its servers. Layouts belong to directories: the one of a directory
 * is asked for once, by {@code lustre.lov} where JNA is there and by the program {@code lfs}
 * otherwise. A file that is to have another one is made by Lustre's library. On any other file
 * system this does nothing.
 *
 * <p>Formats are those of {@code lustre_user.h} (Lustre 2.15).
 */
final class Layouts {
  private static final Logger LOG = LoggerFactory.getLogger(Layouts.class);
  private static final String LUSTRE = "lustre";
  private static final String ATTRIBUTE = "lustre.lov";
  private static final int PLAIN = 0x0BD10BD0;
  private static final int POOLED = 0x0BD30BD0;
  private static final int COMPOSITE = 0x0BD60BD0;
  private static final int STRIPE_SIZE_AT = 24;
  private static final int COUNT_AT = 14;
  private static final int COMPOSITE_HEAD = 32;
  private static final int COMPONENT = 48;
  private static final int COMPONENT_OFFSET_AT = 24;
  private static final Pattern STRIPE_SIZE = Pattern.compile("stripe_size:\\s*([1-9][0-9]*)");
  private static final int LFS_SECONDS = 30;
  private static final int MOST_KNOWN = 10_000;

  /** How long what could not be found out is not asked for again. */
  private static final long GUESS_NANOSECONDS = 60_000_000_000L;

  private static final int OWNER_WRITES = 0200;

  private final Settings settings;
  private final boolean active;
  private final AtomicBoolean told = new AtomicBoolean();

  /** Makes files that have a layout of their own. */
  interface Maker {
    /**
     * A new file, closed, with these permissions or fewer.
     *
     * @throws java.nio.file.FileAlreadyExistsException if it is there
     */
    void make(Path file, int permissions, Layout layout) throws IOException;
  }

  /** What is known of a directory. */
  private static final class Known {
    final long stripe;
    final boolean isGuess;
    private final long since = System.nanoTime();

    Known(long stripe, boolean isGuess) {
      this.stripe = stripe;
      this.isGuess = isGuess;
    }

    boolean isOver() {
      return isGuess && System.nanoTime() - since > GUESS_NANOSECONDS;
    }
  }

  /** Of the whole process: {@code FileContext} makes a file system for a single call. */
  private static final Map<Path, Known> STRIPES = lastUsed();

  /**
   * Directories that this process has made, with their numbers and the layouts that were asked for:
   * what is made in them inherits those, but not in another that has taken the name.
   */
  private static final Map<Path, String> LAID = lastUsed();

  private static <V> Map<Path, V> lastUsed() {
    return Collections.synchronizedMap(
        new LinkedHashMap<Path, V>(16, 0.75f, true) {
          private static final long serialVersionUID = 1L;

          @Override
          protected boolean removeEldestEntry(Map.Entry<Path, V> eldest) {
            return size() > MOST_KNOWN;
          }
        });
  }

  /**
   * @param type of the file system that is mounted
   */
  Layouts(Settings settings, String type) {
    this.settings = settings;
    active = type.equals(LUSTRE);
    if (!active && !settings.layout.isEmpty()) {
      LOG.warn(
          "{} is set to \"{}\", but the file system is of type {}: files get no layout",
          settings.name(Key.LAYOUT),
          settings.layout,
          type);
    }
  }

  /** Whether a file may have a layout of its own on a file system of this type. */
  static boolean areForFiles(String type) {
    return type.equals(LUSTRE) && Library.FOUND != null;
  }

  /**
   * The block size that a file reports: as set, but never such that a block ends within a stripe.
   */
  long blockSize(Path file) {
    if (!active) {
      return settings.blockSize;
    }
    Path directory = file.getParent();
    Known known = STRIPES.get(directory);
    if (known == null || known.isOver()) {
      known = stripe(directory);
      STRIPES.put(directory, known);
    }
    long stripe = known.stripe;
    return (settings.blockSize + stripe - 1) / stripe * stripe;
  }

  /** Called for every directory that is made, before anything is in it. */
  void made(Path directory) throws IOException {
    if (!active) {
      return;
    }
    // Another may have had that name.
    STRIPES.remove(directory);
    if (settings.layout.isEmpty()) {
      return;
    }
    if (!isLaid(directory.getParent())) {
      List<String> command = new ArrayList<>(Arrays.asList(settings.lfs, "setstripe"));
      command.addAll(Arrays.asList(settings.layout.trim().split("\\s+")));
      command.add(directory.toString());
      try {
        run(command);
      } catch (IOException e) {
        // Who tries again finds it missing, not without its layout.
        Files.deleteIfExists(directory);
        throw e;
      }
    }
    LAID.put(directory, laid(directory));
  }

  private boolean isLaid(Path directory) throws IOException {
    String known = LAID.get(directory);
    return known != null && known.equals(laid(directory));
  }

  private String laid(Path directory) throws IOException {
    return Entry.of(directory).inode + " " + settings.layout;
  }

  /** Whether a file for which this is asked is made by Lustre's library. */
  boolean isOwn(Layout wanted) {
    return wanted != null && active;
  }

  /**
   * Makes a file that did not exist, with exactly these permissions, open for writing.
   *
   * @param wanted its layout; null for that of its directory
   */
  FileChannel makeFile(Path file, FsPermission permission, Layout wanted) throws IOException {
    if (wanted != null && !active && told.compareAndSet(false, true)) {
      LOG.warn(
          "a layout was asked for in {}, which is not on Lustre: there is none", file.getParent());
    }
    if (!isOwn(wanted)) {
      return Tree.makeFile(file, permission);
    }
    if (Library.FOUND == null) {
      throw new Refusal(
          file.getParent() + ": a file gets a layout of its own only with JNA and liblustreapi.so");
    }
    int permissions = permission.toShort() & 0777;
    Library.FOUND.make(file, permissions | OWNER_WRITES, wanted);
    try {
      FileChannel made = FileChannel.open(file, StandardOpenOption.WRITE);
      try {
        Tree.setPermissions(file, permissions);
      } catch (IOException | RuntimeException e) {
        made.close();
        throw e;
      }
      return made;
    } catch (IOException | RuntimeException e) {
      Files.deleteIfExists(file);
      throw e;
    }
  }

  /** Loads once, when first asked for; null where there is none. */
  private static final class Library {
    private static final Maker FOUND = find();

    private static Maker find() {
      try {
        return (Maker)
            Class.forName("org.howdah.filesystem.LustreCalls")
                .getDeclaredConstructor()
                .newInstance();
      } catch (ReflectiveOperationException | LinkageError absent) {
        LOG.warn("Lustre's library cannot be loaded: {}", absent.toString());
        return null;
      }
    }
  }

  /**
   * Bytes of a stripe in a directory; 1, of which everything is a multiple, if that cannot be found
   * out now.
   */
  private Known stripe(Path directory) {
    try {
      byte[] layout = attribute(directory);
      return new Known(layout == null ? printed(directory) : stripe(layout), false);
    } catch (IOException e) {
      LOG.warn(
          "The layout of {} cannot be read, so its block size may not fit its stripes: {}",
          directory,
          e.toString());
      return new Known(1, true);
    }
  }

  /**
   * Null where JNA or the attribute is missing: not every release of Lustre gives it for
   * directories.
   */
  private static byte[] attribute(Path directory) {
    try {
      return Native.get() == null ? null : Native.get().attribute(directory, ATTRIBUTE);
    } catch (IOException e) {
      return null;
    }
  }

  private long printed(Path directory) throws IOException {
    // Of all components: asked for stripe sizes alone, it tells that of the last one.
    long common = 1;
    for (String line : run(Arrays.asList(settings.lfs, "getstripe", "-d", directory.toString()))) {
      Matcher told = STRIPE_SIZE.matcher(line);
      while (told.find()) {
        common = multiple(common, Long.parseLong(told.group(1)));
      }
    }
    return common;
  }

  /**
   * @param layout a {@code lov_user_md} of version 1 or 3, or a {@code lov_comp_md_v1} of such
   * @return bytes that are a multiple of every component's stripe
   * @throws IOException if it is neither
   */
  static long stripe(byte[] layout) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(layout).order(ByteOrder.nativeOrder());
    try {
      if (bytes.getInt(0) != COMPOSITE) {
        return plain(bytes, 0);
      }
      long common = 1;
      for (int i = 0; i < bytes.getShort(COUNT_AT); i++) {
        int offset = bytes.getInt(COMPOSITE_HEAD + i * COMPONENT + COMPONENT_OFFSET_AT);
        common = multiple(common, plain(bytes, offset));
      }
      return common;
    } catch (IndexOutOfBoundsException e) {
      throw new Refusal("a layout of " + layout.length + " bytes ends too early", e);
    }
  }

  private static long plain(ByteBuffer bytes, int offset) throws IOException {
    int magic = bytes.getInt(offset);
    if (magic != PLAIN && magic != POOLED) {
      throw new Refusal("a layout of the unknown kind " + Integer.toHexString(magic));
    }
    return Math.max(1, Integer.toUnsignedLong(bytes.getInt(offset + STRIPE_SIZE_AT)));
  }

  private static long multiple(long one, long other) {
    long a = one;
    long b = other;
    while (b != 0) {
      long rest = a % b;
      a = b;
      b = rest;
    }
    return one / a * other;
  }

  private static List<String> run(List<String> command) throws IOException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    Thread limit = new Thread(() -> end(process), "howdah-filesystem-lfs");
    limit.setDaemon(true);
    limit.start();
    try {
      process.getOutputStream().close();
      List<String> lines = new ArrayList<>();
      try (BufferedReader output =
          new BufferedReader(
              new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
        for (String line = output.readLine(); line != null; line = output.readLine()) {
          lines.add(line);
        }
      }
      if (process.waitFor() != 0) {
        throw new Refusal(String.join(" ", command) + " failed: " + String.join(" ", lines));
      }
      return lines;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Refusal("interrupted while " + String.join(" ", command) + " ran", e);
    } finally {
      limit.interrupt();
      process.destroyForcibly();
    }
  }

  /** Ends a program that takes too long. */
  private static void end(Process process) {
    try {
      if (!process.waitFor(LFS_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException done) {
      Thread.currentThread().interrupt();
    }
  }
}
