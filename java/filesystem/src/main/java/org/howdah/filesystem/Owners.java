package org.howdah.filesystem;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.nio.file.attribute.UserPrincipalNotFoundException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** Names of users and groups by their numbers; each is looked up once per JVM. */
final class Owners {
  private static final ConcurrentMap<Integer, String> USERS = new ConcurrentHashMap<>();
  private static final ConcurrentMap<Integer, String> GROUPS = new ConcurrentHashMap<>();

  /** How long a number without a name is believed to have none: a directory service may be back. */
  private static final long NAMELESS_NANOSECONDS = 60_000_000_000L;

  /** By attribute and number: when to ask again. */
  private static final ConcurrentMap<String, Long> NAMELESS = new ConcurrentHashMap<>();

  private Owners() {}

  static String user(Entry entry, Path path) {
    return name(USERS, entry.user, entry, path, "unix:owner");
  }

  static String group(Entry entry, Path path) {
    return name(GROUPS, entry.group, entry, path, "unix:group");
  }

  /**
   * @param user name, or a number where there is no such name; null if it stays
   * @param group likewise
   */
  static void set(Path path, String user, String group) throws IOException {
    UserPrincipalLookupService names = path.getFileSystem().getUserPrincipalLookupService();
    // Both are known before one is set.
    Object owner = known("owner", user, names::lookupPrincipalByName);
    Object shared = known("group", group, names::lookupPrincipalByGroupName);
    if (owner != null) {
      Files.setAttribute(path, owner instanceof Integer ? "unix:uid" : "unix:owner", owner);
    }
    if (shared != null) {
      Files.setAttribute(path, shared instanceof Integer ? "unix:gid" : "unix:group", shared);
    }
  }

  private interface Lookup {
    UserPrincipal of(String name) throws IOException;
  }

  /** Whom a name means, the number that it is where it means nobody, or null for null. */
  private static Object known(String what, String name, Lookup lookup) throws IOException {
    if (name == null) {
      return null;
    }
    try {
      return lookup.of(name);
    } catch (UserPrincipalNotFoundException unknown) {
      if (!name.matches("[0-9]{1,9}")) {
        throw new Refusal("this machine knows no " + what + " " + name, unknown);
      }
      return Integer.valueOf(name);
    }
  }

  /** The number itself where there is no name, or where the file is gone meanwhile. */
  private static String name(
      ConcurrentMap<Integer, String> known, int number, Entry entry, Path path, String attribute) {
    String name = known.get(number);
    if (name != null) {
      return name;
    }
    String numeric = Integer.toUnsignedString(number);
    Long until = NAMELESS.get(attribute + number);
    if (until != null && System.nanoTime() - until < 0) {
      return numeric;
    }
    try {
      // Only the owner of a file can be asked for, so the file's present owner has to be that
      // number still.
      String found = Files.getAttribute(path, attribute, entry.options()).toString();
      Entry now = entry.isLink() ? Entry.of(path) : Entry.followed(path);
      if ((attribute.endsWith("owner") ? now.user : now.group) != number) {
        return numeric;
      }
      // Java writes large numbers as negative ones.
      if (found.equals(numeric) || found.equals(Integer.toString(number))) {
        NAMELESS.put(attribute + number, System.nanoTime() + NAMELESS_NANOSECONDS);
      } else {
        known.put(number, found);
        return found;
      }
      return numeric;
    } catch (IOException gone) {
      return numeric;
    }
  }
}
