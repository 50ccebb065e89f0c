package org.howdah.filesystem;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.nio.file.attribute.UserPrincipalNotFoundException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** Names of users and groups by their numbers; each is looked up once per JVM. */
final class Owners {
  private static final ConcurrentMap<Integer, String> USERS = new ConcurrentHashMap<>();
  private static final ConcurrentMap<Integer, String> GROUPS = new ConcurrentHashMap<>();

  private Owners() {}

  static String user(Entry entry, Path path) {
    return name(USERS, entry.user, path, "unix:owner");
  }

  static String group(Entry entry, Path path) {
    return name(GROUPS, entry.group, path, "unix:group");
  }

  /**
   * @param user name, or a number where there is no such name; null if it stays
   * @param group likewise
   */
  static void set(Path path, String user, String group) throws IOException {
    if (user != null) {
      set(
          path,
          user,
          "unix:owner",
          "unix:uid",
          path.getFileSystem().getUserPrincipalLookupService()::lookupPrincipalByName);
    }
    if (group != null) {
      set(
          path,
          group,
          "unix:group",
          "unix:gid",
          path.getFileSystem().getUserPrincipalLookupService()::lookupPrincipalByGroupName);
    }
  }

  private interface Lookup {
    UserPrincipal of(String name) throws IOException;
  }

  private static void set(Path path, String name, String named, String numbered, Lookup lookup)
      throws IOException {
    try {
      Files.setAttribute(path, named, lookup.of(name));
    } catch (UserPrincipalNotFoundException unknown) {
      if (!name.matches("[0-9]{1,9}")) {
        throw new Refusal(
            "this machine knows no " + named.substring("unix:".length()) + " " + name, unknown);
      }
      Files.setAttribute(path, numbered, Integer.valueOf(name));
    }
  }

  /** The number itself where there is no name, or where the file is gone meanwhile. */
  private static String name(
      ConcurrentMap<Integer, String> known, int number, Path path, String attribute) {
    String name = known.get(number);
    if (name != null) {
      return name;
    }
    String numeric = Integer.toUnsignedString(number);
    try {
      // Only the owner of a file can be asked for, so the file's present owner has to be that
      // number still.
      String found = Files.getAttribute(path, attribute, LinkOption.NOFOLLOW_LINKS).toString();
      Entry now = Entry.of(path);
      if ((attribute.endsWith("owner") ? now.user : now.group) != number) {
        return numeric;
      }
      known.put(number, found);
      return found;
    } catch (IOException gone) {
      return numeric;
    }
  }
}
