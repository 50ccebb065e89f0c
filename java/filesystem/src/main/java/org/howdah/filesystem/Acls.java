package org.howdah.filesystem;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.permission.AclEntry;
import org.apache.hadoop.fs.permission.AclEntryScope;
import org.apache.hadoop.fs.permission.AclEntryType;
import org.apache.hadoop.fs.permission.AclStatus;
import org.apache.hadoop.fs.permission.FsAction;

/**
 * The access control list of one file or directory, in the kernel's own form: the attributes {@code
 * system.posix_acl_access} and {@code system.posix_acl_default} (linux/posix_acl_xattr.h, version
 * 2). Rules are those of acl(5).
 */
final class Acls {
  private static final String ACCESS = "system.posix_acl_access";
  private static final String DEFAULT = "system.posix_acl_default";
  private static final int VERSION = 2;
  private static final int ENTRY_BYTES = 8;
  private static final int NOBODY = -1;

  /** In the order in which the kernel wants them; tags are powers of two. */
  private enum Tag {
    USER_OBJ(AclEntryType.USER),
    USER(AclEntryType.USER),
    GROUP_OBJ(AclEntryType.GROUP),
    GROUP(AclEntryType.GROUP),
    MASK(AclEntryType.MASK),
    OTHER(AclEntryType.OTHER);

    final AclEntryType type;

    Tag(AclEntryType type) {
      this.type = type;
    }

    int number() {
      return 1 << ordinal();
    }

    static Tag of(AclEntry entry) {
      boolean named = entry.getName() != null;
      switch (entry.getType()) {
        case USER:
          return named ? USER : USER_OBJ;
        case GROUP:
          return named ? GROUP : GROUP_OBJ;
        case MASK:
          return MASK;
        default:
          return OTHER;
      }
    }

    static Tag of(int number) throws IOException {
      for (Tag tag : values()) {
        if (tag.number() == number) {
          return tag;
        }
      }
      throw new Refusal("an access control list has an entry of the unknown kind " + number);
    }
  }

  private final Path path;
  private final Native calls;

  private Acls(Path path, Native calls) {
    this.path = path;
    this.calls = calls;
  }

  /**
   * @throws UnsupportedOperationException without JNA
   */
  static Acls of(Path path) {
    Native calls = Native.get();
    if (calls == null) {
      throw new UnsupportedOperationException(
          "access control lists need JNA, which is not on the class path");
    }
    return new Acls(path, calls);
  }

  /** Whether there are any where a path is. */
  static boolean areSupported(Path path) {
    Native calls = Native.get();
    if (calls == null) {
      return false;
    }
    try {
      calls.attribute(path, ACCESS);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** Whether there is one that says more than the permissions; false without JNA. */
  static boolean exists(Path path) {
    Native calls = Native.get();
    try {
      return calls != null
          && (calls.attribute(path, ACCESS) != null || calls.attribute(path, DEFAULT) != null);
    } catch (IOException unsupported) {
      return false;
    }
  }

  /** As HDFS tells it: without the entries that the permissions say already. */
  AclStatus status(FileStatus file) throws IOException {
    List<AclEntry> entries = new ArrayList<>();
    for (AclEntry entry : read(AclEntryScope.ACCESS)) {
      Tag tag = Tag.of(entry);
      if (tag == Tag.USER || tag == Tag.GROUP || tag == Tag.GROUP_OBJ) {
        entries.add(entry);
      }
    }
    if (entries.size() == 1) {
      entries.clear();
    }
    entries.addAll(read(AclEntryScope.DEFAULT));
    return new AclStatus.Builder()
        .owner(file.getOwner())
        .group(file.getGroup())
        .setPermission(file.getPermission())
        .stickyBit(file.getPermission().getStickyBit())
        .addEntries(entries)
        .build();
  }

  /** Puts these entries in place of all in their list; a list that has none here stays. */
  void replace(List<AclEntry> entries) throws IOException {
    for (AclEntryScope scope : AclEntryScope.values()) {
      List<AclEntry> some = of(scope, entries);
      if (!some.isEmpty()) {
        write(scope, completed(scope, some, read(AclEntryScope.ACCESS)));
      }
    }
  }

  void modify(List<AclEntry> entries) throws IOException {
    for (AclEntryScope scope : AclEntryScope.values()) {
      List<AclEntry> changes = of(scope, entries);
      if (!changes.isEmpty()) {
        List<AclEntry> now = read(scope);
        boolean masked = changes.stream().anyMatch(entry -> entry.getType() == AclEntryType.MASK);
        now.removeIf(old -> changes.stream().anyMatch(change -> same(old, change)));
        now.addAll(changes);
        write(scope, completed(scope, masked ? now : unmasked(now), read(AclEntryScope.ACCESS)));
      }
    }
  }

  void remove(List<AclEntry> entries) throws IOException {
    for (AclEntryScope scope : AclEntryScope.values()) {
      List<AclEntry> unwanted = of(scope, entries);
      if (!unwanted.isEmpty()) {
        List<AclEntry> now = read(scope);
        now.removeIf(old -> unwanted.stream().anyMatch(entry -> same(old, entry)));
        write(scope, completed(scope, unmasked(now), read(AclEntryScope.ACCESS)));
      }
    }
  }

  void removeDefault() throws IOException {
    calls.removeAttribute(path, DEFAULT);
  }

  void removeAll() throws IOException {
    removeDefault();
    // The group's own entry, which the mask hides, is its permission again.
    List<AclEntry> now = read(AclEntryScope.ACCESS);
    now.removeIf(entry -> entry.getName() != null || entry.getType() == AclEntryType.MASK);
    write(AclEntryScope.ACCESS, now);
  }

  private static List<AclEntry> unmasked(List<AclEntry> entries) {
    entries.removeIf(entry -> entry.getType() == AclEntryType.MASK);
    return entries;
  }

  private static List<AclEntry> of(AclEntryScope scope, List<AclEntry> entries) {
    List<AclEntry> some = new ArrayList<>();
    for (AclEntry entry : entries) {
      if (entry.getScope() == scope) {
        some.add(entry);
      }
    }
    return some;
  }

  private static boolean same(AclEntry one, AclEntry other) {
    return one.getType() == other.getType() && Objects.equals(one.getName(), other.getName());
  }

  /**
   * With the three entries that every list must have, and the mask where there are named ones: all
   * that those may do.
   */
  private static List<AclEntry> completed(
      AclEntryScope scope, List<AclEntry> entries, List<AclEntry> usual) {
    if (entries.isEmpty()) {
      return entries;
    }
    List<AclEntry> all = new ArrayList<>(entries);
    for (AclEntry base : usual) {
      Tag tag = Tag.of(base);
      boolean needed = tag == Tag.USER_OBJ || tag == Tag.GROUP_OBJ || tag == Tag.OTHER;
      if (needed && all.stream().noneMatch(entry -> same(entry, base))) {
        all.add(entry(scope, base.getType(), null, base.getPermission()));
      }
    }
    boolean named = all.stream().anyMatch(entry -> entry.getName() != null);
    if (named && all.stream().noneMatch(entry -> entry.getType() == AclEntryType.MASK)) {
      FsAction mask = FsAction.NONE;
      for (AclEntry entry : all) {
        if (entry.getName() != null || entry.getType() == AclEntryType.GROUP) {
          mask = mask.or(entry.getPermission());
        }
      }
      all.add(entry(scope, AclEntryType.MASK, null, mask));
    }
    return all;
  }

  /** An access list is never empty: without an attribute it is what the permissions say. */
  private List<AclEntry> read(AclEntryScope scope) throws IOException {
    byte[] value = calls.attribute(path, scope == AclEntryScope.ACCESS ? ACCESS : DEFAULT);
    List<AclEntry> entries = new ArrayList<>();
    if (value == null) {
      if (scope == AclEntryScope.ACCESS) {
        int mode = Entry.followed(path).permissions();
        entries.add(entry(scope, AclEntryType.USER, null, action(mode >> 6)));
        entries.add(entry(scope, AclEntryType.GROUP, null, action(mode >> 3)));
        entries.add(entry(scope, AclEntryType.OTHER, null, action(mode)));
      }
      return entries;
    }
    ByteBuffer bytes = ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN);
    if (bytes.getInt() != VERSION) {
      throw new Refusal("an access control list of a version other than " + VERSION);
    }
    while (bytes.remaining() >= ENTRY_BYTES) {
      Tag tag = Tag.of(bytes.getShort());
      FsAction action = action(bytes.getShort());
      int id = bytes.getInt();
      String name =
          tag == Tag.USER ? calls.userName(id) : tag == Tag.GROUP ? calls.groupName(id) : null;
      entries.add(entry(scope, tag.type, name, action));
    }
    return entries;
  }

  private void write(AclEntryScope scope, List<AclEntry> entries) throws IOException {
    String attribute = scope == AclEntryScope.ACCESS ? ACCESS : DEFAULT;
    if (entries.isEmpty()) {
      calls.removeAttribute(path, attribute);
      return;
    }
    if (scope == AclEntryScope.DEFAULT && !Entry.followed(path).isDirectory()) {
      throw new Refusal(path + " is a file, and only directories have default entries");
    }
    List<long[]> rows = new ArrayList<>();
    for (AclEntry entry : entries) {
      Tag tag = Tag.of(entry);
      int id =
          tag == Tag.USER
              ? calls.userId(entry.getName())
              : tag == Tag.GROUP ? calls.groupId(entry.getName()) : NOBODY;
      rows.add(
          new long[] {tag.number(), entry.getPermission().ordinal(), Integer.toUnsignedLong(id)});
    }
    rows.sort(Comparator.<long[]>comparingLong(row -> row[0]).thenComparingLong(row -> row[2]));
    ByteBuffer bytes =
        ByteBuffer.allocate(4 + ENTRY_BYTES * rows.size()).order(ByteOrder.LITTLE_ENDIAN);
    bytes.putInt(VERSION);
    for (long[] row : rows) {
      bytes.putShort((short) row[0]).putShort((short) row[1]).putInt((int) row[2]);
    }
    calls.setAttribute(path, attribute, bytes.array());
  }

  private static FsAction action(int bits) {
    return FsAction.values()[bits & 7];
  }

  private static AclEntry entry(
      AclEntryScope scope, AclEntryType type, String name, FsAction action) {
    return new AclEntry.Builder()
        .setScope(scope)
        .setType(type)
        .setName(name)
        .setPermission(action)
        .build();
  }
}
