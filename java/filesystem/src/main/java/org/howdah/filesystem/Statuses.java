package org.howdah.filesystem;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.permission.FsPermission;

/** What Hadoop is told of files, directories and links. */
final class Statuses {
  private static final FsPermission[] PERMISSIONS = permissions();

  /** Statuses of one step through a large directory. */
  private static final int BATCH = 8192;

  private final URI uri;
  private final Mount mount;
  private final Settings settings;
  private final Layouts layouts;

  Statuses(URI uri, Mount mount, Settings settings, Layouts layouts) {
    this.uri = uri;
    this.mount = mount;
    this.settings = settings;
    this.layouts = layouts;
  }

  /**
   * @param path qualified
   * @param located where it is
   */
  FileStatus of(Path path, java.nio.file.Path located, Entry entry) throws IOException {
    return new Status(
        path,
        located,
        entry,
        entry.isDirectory() ? 0 : layouts.blockSize(located),
        PERMISSIONS[entry.permissions()],
        Owners.user(entry, located),
        Owners.group(entry, located),
        entry.isLink() ? target(located) : null);
  }

  /**
   * Where a link leads, as a path of this file system if it is absolute and inside; else as it
   * stands in the link.
   */
  Path target(java.nio.file.Path link) throws IOException {
    java.nio.file.Path target = Files.readSymbolicLink(link);
    return target.isAbsolute() && target.startsWith(mount.root())
        ? new Path(null, null, mount.unlocate(target))
        : new Path(null, null, target.toString());
  }

  /**
   * Of all that is in a directory, sorted. What vanishes meanwhile is left out, if not all of it
   * does.
   */
  FileStatus[] list(Path directory, java.nio.file.Path located) throws IOException {
    Listing listing = listing(directory, 0);
    Tree.forEach(located, listing::add);
    return finished(listing, 0, directory, located);
  }

  /**
   * The statuses of a listing, sorted. Where any of its names was gone, the directory itself may
   * be, or the mount: what is left then is not what there is.
   */
  private FileStatus[] finished(
      Listing listing, int known, Path directory, java.nio.file.Path located) throws IOException {
    FileStatus[] found = listing.finish();
    if (found.length < listing.seen() - known) {
      mount.check();
      if (!Entry.isDirectory(located)) {
        throw new FileNotFoundException("list " + directory + ": it went away meanwhile");
      }
    }
    NameOrder.sort(found);
    return found;
  }

  /**
   * As {@link #list}, but of a large directory, all names are read, and then attributes only as far
   * as the caller gets, after those of the names that were read first.
   */
  RemoteIterator<FileStatus> iterate(Path directory, java.nio.file.Path located)
      throws IOException {
    Listing first = listing(directory, 0);
    List<byte[]> names = new ArrayList<>();
    Tree.forEach(
        located,
        name -> {
          String text = name.getFileName().toString();
          if (first.seen() < BATCH || !isFoundBy(text, name)) {
            first.add(name);
          } else {
            names.add(text.getBytes(StandardCharsets.UTF_8));
          }
        });
    FileStatus[] made = finished(first, 0, directory, located);
    names.sort(NameOrder::compare);
    return new MergedStatuses(made, inBatches(names, directory, located));
  }

  /** Not of a name that is not in this JVM's encoding. */
  private static boolean isFoundBy(String text, java.nio.file.Path name) {
    try {
      return name.resolveSibling(text).equals(name);
    } catch (InvalidPathException e) {
      return false;
    }
  }

  /**
   * @param names in UTF-8, sorted
   */
  private RemoteIterator<FileStatus> inBatches(
      List<byte[]> names, Path directory, java.nio.file.Path located) {
    return new RemoteIterator<FileStatus>() {
      private FileStatus[] batch = {};
      private int read;
      private int given;

      @Override
      public boolean hasNext() throws IOException {
        while (given == batch.length && read < names.size()) {
          Listing listing = listing(directory, names.size());
          for (int end = Math.min(names.size(), read + BATCH); read < end; read++) {
            listing.add(located.resolve(new String(names.get(read), StandardCharsets.UTF_8)));
          }
          batch = finished(listing, names.size(), directory, located);
          given = 0;
        }
        return given < batch.length;
      }

      @Override
      public FileStatus next() {
        return batch[given++];
      }
    };
  }

  private Listing listing(Path directory, int known) {
    String parent = directory.toUri().getPath();
    String prefix = parent.endsWith("/") ? parent : parent + "/";
    return new Listing(settings, known, located -> of(prefix, located));
  }

  /** Null for what was deleted since its name was read. */
  private FileStatus of(String prefix, java.nio.file.Path located) throws IOException {
    Path path = new Path(uri.getScheme(), uri.getAuthority(), prefix + located.getFileName());
    try {
      return of(path, located, seen(located));
    } catch (NoSuchFileException gone) {
      return null;
    } catch (IOException e) {
      throw Errors.of(e, "list", path);
    }
  }

  /** What a link leads to if that is inside; else the link itself. */
  private Entry seen(java.nio.file.Path located) throws IOException {
    Entry entry = Entry.of(located);
    if (!entry.isLink()) {
      return entry;
    }
    try {
      return mount.isInside(located.toRealPath()) ? Entry.followed(located) : entry;
    } catch (IOException leadsNowhere) {
      if (Errors.isFailure(leadsNowhere)) {
        throw leadsNowhere;
      }
      return entry;
    }
  }

  /** All that there are, as statuses share them. */
  private static FsPermission[] permissions() {
    FsPermission[] all = new FsPermission[02000];
    for (int mode = 0; mode < all.length; mode++) {
      all[mode] = new FsPermission((short) mode);
    }
    return all;
  }
}
