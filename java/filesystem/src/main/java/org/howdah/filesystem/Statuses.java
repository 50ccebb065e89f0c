package org.howdah.filesystem;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.permission.FsPermission;

/** What Hadoop is told of files, directories and links. */
final class Statuses {
  private static final FsPermission[] PERMISSIONS = permissions();

  /** Statuses of one step through a large directory. */
  private static final int BATCH = 1024;

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

  /** Of all that is in a directory. What vanishes meanwhile is left out. */
  FileStatus[] list(Path directory, java.nio.file.Path located) throws IOException {
    java.nio.file.Path[] names = Tree.names(located).toArray(new java.nio.file.Path[0]);
    FileStatus[] found = of(directory, names, 0, names.length);
    int count = 0;
    for (FileStatus status : found) {
      if (status != null) {
        found[count++] = status;
      }
    }
    return count == found.length ? found : Arrays.copyOf(found, count);
  }

  /** As {@link #list}, but attributes are read only as far as the caller gets. */
  RemoteIterator<FileStatus> iterate(Path directory, java.nio.file.Path located)
      throws IOException {
    java.nio.file.Path[] names = Tree.names(located).toArray(new java.nio.file.Path[0]);
    return new RemoteIterator<FileStatus>() {
      private FileStatus[] batch = {};
      private int read;
      private int given;

      @Override
      public boolean hasNext() throws IOException {
        while (true) {
          while (given < batch.length) {
            if (batch[given] != null) {
              return true;
            }
            given++;
          }
          if (read == names.length) {
            return false;
          }
          int end = Math.min(names.length, read + BATCH);
          batch = of(directory, names, read, end);
          read = end;
          given = 0;
        }
      }

      @Override
      public FileStatus next() throws IOException {
        if (!hasNext()) {
          throw new NoSuchElementException();
        }
        return batch[given++];
      }
    };
  }

  private FileStatus[] of(Path directory, java.nio.file.Path[] names, int start, int end)
      throws IOException {
    FileStatus[] found = new FileStatus[end - start];
    String parent = directory.toUri().getPath();
    String prefix = parent.endsWith("/") ? parent : parent + "/";
    int parts =
        end - start < settings.listParallel
            ? 1
            : Math.min(settings.threads, Runtime.getRuntime().availableProcessors());
    List<Future<?>> running = new ArrayList<>();
    for (int part = 1; part < parts; part++) {
      int from = start + (int) ((long) (end - start) * part / parts);
      int to = start + (int) ((long) (end - start) * (part + 1) / parts);
      running.add(
          Background.pool()
              .submit(
                  () -> {
                    fill(found, start, prefix, names, from, to);
                    return null;
                  }));
    }
    fill(found, start, prefix, names, start, start + (end - start) / parts);
    for (Future<?> part : running) {
      await(part);
    }
    return found;
  }

  private void fill(
      FileStatus[] found, int start, String prefix, java.nio.file.Path[] names, int from, int to)
      throws IOException {
    for (int i = from; i < to; i++) {
      java.nio.file.Path located = names[i];
      Path path = new Path(uri.getScheme(), uri.getAuthority(), prefix + located.getFileName());
      try {
        found[i - start] = of(path, located, seen(located));
      } catch (NoSuchFileException gone) {
        // Deleted since the names were read.
      } catch (IOException e) {
        throw Errors.of(e, "list", path);
      }
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
      return entry;
    }
  }

  private static void await(Future<?> part) throws IOException {
    try {
      part.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while a directory was listed");
    } catch (ExecutionException e) {
      if (e.getCause() instanceof IOException) {
        throw (IOException) e.getCause();
      }
      throw new IOException(e.getCause());
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
