package org.howdah.filesystem;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessMode;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.BulkDelete;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileChecksum;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FsStatus;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.MultipartUploaderBuilder;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathFilter;
import org.apache.hadoop.fs.PathHandle;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.impl.FileSystemMultipartUploaderBuilder;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.util.Progressable;
import org.apache.hadoop.util.functional.RemoteIterators;

/**
 * A Hadoop file system over a mounted one. Where HDFS and POSIX differ it is as HDFS: a rename
 * replaces nothing, a file that is overwritten is a new one to those who read the old one,
 * permissions are exactly the ones asked for.
 *
 * <p>It acts with the rights of the process. A Hadoop user of another name is refused where
 * Kerberos proves who that is, and told of in the log otherwise.
 */
abstract class MountedFileSystem extends MountedBase {
  private volatile boolean verifies = true;

  MountedFileSystem(String scheme) {
    super(scheme);
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    statistics.incrementReadOps(1);
    return call(
        "open",
        path,
        name -> {
          mount.check();
          Mount.Found found = mount.find(name);
          if (!found.entry.isFile()) {
            throw new FileNotFoundException("open " + name + ": it is not a file");
          }
          ReadChannel channel = new ReadChannel(found.located, found.entry);
          try {
            Checksums checksums = settings.checksum && verifies ? Checksums.of(found) : null;
            return new FSDataInputStream(
                new FileInput(name, channel, settings, statistics, checksums));
          } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
          }
        });
  }

  /** Whether files that are opened from now on are compared with their checksums. */
  @Override
  public void setVerifyChecksum(boolean verifies) {
    this.verifies = verifies;
  }

  @Override
  public FSDataInputStream open(PathHandle handle, int bufferSize) throws IOException {
    Handle known = handle instanceof Handle ? (Handle) handle : new Handle(handle.bytes());
    Path path = new Path(known.path());
    return call(
        "open",
        path,
        name -> {
          mount.check();
          java.nio.file.Path found =
              known.find(mount.locateTarget(name), Entry.followed(mount.root()));
          return open(
              new Path(uri.getScheme(), uri.getAuthority(), mount.unlocate(found)), bufferSize);
        });
  }

  /**
   * @throws UncheckedIOException for a status that another process sent, if the file is not there
   *     any more
   */
  @Override
  protected PathHandle createPathHandle(FileStatus status, Options.HandleOpt... options) {
    if (!status.isFile()) {
      throw new IllegalArgumentException(status.getPath() + ": only files have handles");
    }
    checkPath(status.getPath());
    return Handle.of(status, seen(status), options);
  }

  private Entry seen(FileStatus status) {
    if (status instanceof Status && ((Status) status).entry != null) {
      return ((Status) status).entry;
    }
    try {
      return call("stat", status.getPath(), name -> mount.find(name).entry);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    statistics.incrementReadOps(1);
    return call(
        "stat",
        path,
        name -> {
          Mount.Found found = mount.look(name);
          return statuses.of(name, found.located, found.entry);
        });
  }

  @Override
  public FileStatus getFileLinkStatus(Path path) throws IOException {
    statistics.incrementReadOps(1);
    return call(
        "stat",
        path,
        name -> {
          java.nio.file.Path located = mount.locate(name);
          FileStatus status = statuses.of(name, located, Entry.of(located));
          if (status.isSymlink()) {
            status.setSymlink(
                org.apache.hadoop.fs.FSLinkResolver.qualifySymlinkTarget(
                    uri, name, status.getSymlink()));
          }
          return status;
        });
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    statistics.incrementLargeReadOps(1);
    return call(
        "list",
        path,
        name -> {
          mount.check();
          Mount.Found found = mount.find(name);
          return found.entry.isDirectory()
              ? statuses.list(name, found.located)
              : new FileStatus[] {statuses.of(name, found.located, found.entry)};
        });
  }

  @Override
  public RemoteIterator<FileStatus> listStatusIterator(Path path) throws IOException {
    statistics.incrementLargeReadOps(1);
    return call(
        "list",
        path,
        name -> {
          mount.check();
          Mount.Found found = mount.find(name);
          return found.entry.isDirectory()
              ? statuses.iterate(name, found.located)
              : RemoteIterators.remoteIteratorFromSingleton(
                  statuses.of(name, found.located, found.entry));
        });
  }

  /** As listed, but that nothing is asked for access control lists, which splits do not need. */
  @Override
  protected RemoteIterator<LocatedFileStatus> listLocatedStatus(Path path, PathFilter filter)
      throws IOException {
    return RemoteIterators.mappingRemoteIterator(
        RemoteIterators.filteringRemoteIterator(
            listStatusIterator(path), status -> filter.accept(status.getPath())),
        // Those who make splits want some of a link, too, that leads nowhere: opening it says so.
        status ->
            Blocks.with(
                status,
                status.isDirectory() ? null : getFileBlockLocations(status, 0, status.getLen())));
  }

  /**
   * One location per block, at the hosts that are set; normally none, as no host is nearer than
   * another.
   */
  @Override
  public BlockLocation[] getFileBlockLocations(FileStatus file, long start, long length) {
    return file == null ? null : Blocks.of(file, start, length, settings);
  }

  /** None is known: what is damaged is found where it is read. */
  @Override
  public RemoteIterator<Path> listCorruptFileBlocks(Path path) {
    return RemoteIterators.remoteIteratorFromArray(new Path[0]);
  }

  @Override
  public FileChecksum getFileChecksum(Path path, long length) throws IOException {
    statistics.incrementReadOps(1);
    return call(
        "checksum",
        path,
        name -> {
          mount.check();
          return contents.checksum(name, mount.locateTarget(name), length);
        });
  }

  /** Of the whole device, or, where this process's user has a quota there, of that. */
  @Override
  public FsStatus getStatus(Path path) throws IOException {
    return call(
        "status",
        path == null ? new Path("/") : path,
        name -> {
          mount.check();
          return Space.of(mount.locateTarget(name));
        });
  }

  @Override
  public void access(Path path, FsAction mode) throws IOException {
    call(
        "access",
        path,
        name -> {
          if (!Tree.may(mount.find(name).located, modes(mode))) {
            throw new AccessControlException(
                name + ": user " + System.getProperty("user.name") + " may not " + mode.SYMBOL);
          }
          return null;
        });
  }

  private static AccessMode[] modes(FsAction action) {
    List<AccessMode> modes = new ArrayList<>();
    for (AccessMode mode : AccessMode.values()) {
      if (action.implies(FsAction.valueOf(mode.name()))) {
        modes.add(mode);
      }
    }
    return modes.toArray(new AccessMode[0]);
  }

  @Override
  public FSDataOutputStream create(
      Path path,
      FsPermission permission,
      boolean overwrite,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress)
      throws IOException {
    return make(path, FileBuilder.flags(overwrite), wish(permission, true));
  }

  @Override
  public FSDataOutputStream create(
      Path path,
      FsPermission permission,
      EnumSet<CreateFlag> flags,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress,
      Options.ChecksumOpt checksum)
      throws IOException {
    return make(path, flags, wish(permission, true));
  }

  @Override
  @SuppressWarnings("deprecation")
  public FSDataOutputStream createNonRecursive(
      Path path,
      FsPermission permission,
      EnumSet<CreateFlag> flags,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress)
      throws IOException {
    return make(path, flags, wish(permission, false));
  }

  @Override
  public FSDataOutputStreamBuilder<?, ?> createFile(Path path) {
    return new FileBuilder(this, path).create().overwrite(true);
  }

  @Override
  public FSDataOutputStreamBuilder<?, ?> appendFile(Path path) {
    return new FileBuilder(this, path).append();
  }

  /** What every way to create a file comes to. */
  FSDataOutputStream make(Path path, EnumSet<CreateFlag> flags, Creation.Wish wish)
      throws IOException {
    if (flags == null || !flags.contains(CreateFlag.CREATE) || flags.contains(CreateFlag.APPEND)) {
      boolean there = exists(path);
      CreateFlag.validate(path, there, flags);
      if (there && flags.contains(CreateFlag.APPEND)) {
        return append(path, flags);
      }
    }
    statistics.incrementWriteOps(1);
    wish.overwrite = flags.contains(CreateFlag.OVERWRITE);
    wish.sync = flags.contains(CreateFlag.SYNC_BLOCK);
    return call("create", path, name -> new FSDataOutputStream(creation.make(name, wish), null));
  }

  /**
   * @param permission before the umask is taken away; null for that of any file
   */
  Creation.Wish wish(FsPermission permission, boolean recursive) {
    return exactly(
        settings.masked(permission == null ? FsPermission.getFileDefault() : permission),
        recursive);
  }

  /** For {@code FileContext}, which has taken the umask away already. */
  Creation.Wish exactly(FsPermission permission, boolean recursive) {
    Creation.Wish wish = new Creation.Wish();
    wish.permission = permission;
    wish.parents = settings.masked(FsPermission.getDirDefault());
    wish.recursive = recursive;
    wish.atomic = settings.createAtomic;
    return wish;
  }

  @Override
  public FSDataOutputStream append(Path path, int bufferSize, Progressable progress)
      throws IOException {
    return append(path, EnumSet.of(CreateFlag.APPEND));
  }

  /** Also when a builder or flags of {@code create} ask for it. */
  FSDataOutputStream append(Path path, EnumSet<CreateFlag> flags) throws IOException {
    boolean sync = flags.contains(CreateFlag.SYNC_BLOCK);
    statistics.incrementWriteOps(1);
    return call(
        "append",
        path,
        name -> {
          mount.check();
          Mount.Found found = mount.find(name);
          FileOutput out = creation.append(name, found, sync);
          return new FSDataOutputStream(out, null, out.start());
        });
  }

  @Override
  public void concat(Path target, Path[] sources) throws IOException {
    statistics.incrementWriteOps(1);
    List<java.nio.file.Path> located = new ArrayList<>();
    for (Path source : sources) {
      located.add(call("concat", source, mount::locateTarget));
    }
    call(
        "concat",
        target,
        name -> {
          mount.check();
          contents.concat(name, mount.locateTarget(name), located);
          return null;
        });
  }

  @Override
  public boolean truncate(Path path, long length) throws IOException {
    statistics.incrementWriteOps(1);
    return call(
        "truncate",
        path,
        name -> {
          mount.check();
          contents.truncate(name, mount.locateTarget(name), length);
          return true;
        });
  }

  @Override
  public boolean mkdirs(Path path, FsPermission permission) throws IOException {
    return makeDirectories(
        path, settings.masked(permission == null ? FsPermission.getDirDefault() : permission));
  }

  /** Called by {@code FileContext}, which has taken the umask away already. */
  @Override
  @SuppressWarnings("deprecation")
  protected boolean primitiveMkdir(Path path, FsPermission absolute) throws IOException {
    return makeDirectories(path, absolute);
  }

  @Override
  @SuppressWarnings("deprecation")
  protected void primitiveMkdir(Path path, FsPermission absolute, boolean createParent)
      throws IOException {
    if (!createParent && !getFileStatus(absolute(path).getParent()).isDirectory()) {
      throw new ParentNotDirectoryException("mkdir " + path + ": its parent is not a directory");
    }
    makeDirectories(path, absolute);
  }

  private boolean makeDirectories(Path path, FsPermission wanted) throws IOException {
    statistics.incrementWriteOps(1);
    return call(
        "mkdir",
        path,
        name -> {
          mount.check();
          creation.makeDirectories(mount.locate(name), wanted);
          return true;
        });
  }

  @Override
  public boolean rename(Path source, Path destination) throws IOException {
    statistics.incrementWriteOps(1);
    return call(
        "rename",
        source,
        name -> {
          mount.check();
          return renames.rename(name, absolute(destination));
        });
  }

  @Override
  @SuppressWarnings("deprecation")
  protected void rename(Path source, Path destination, Options.Rename... options)
      throws IOException {
    boolean overwrite = false;
    for (Options.Rename option : options) {
      overwrite |= option == Options.Rename.OVERWRITE;
    }
    rename(source, destination, overwrite);
  }

  void rename(Path source, Path destination, boolean overwrite) throws IOException {
    statistics.incrementWriteOps(1);
    call(
        "rename",
        source,
        name -> {
          mount.check();
          renames.rename(name, absolute(destination), overwrite);
          return null;
        });
  }

  /** The root stays, with all that is in it. */
  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    statistics.incrementWriteOps(1);
    return call(
        "delete",
        path,
        name -> {
          mount.check();
          return Removal.remove(name, mount.locate(name), mount.root(), recursive);
        });
  }

  @Override
  public BulkDelete createBulkDelete(Path base) throws IOException {
    return new Deletions(this, makeQualified(base));
  }

  @Override
  public MultipartUploaderBuilder<?, ?> createMultipartUploader(Path base) throws IOException {
    return new FileSystemMultipartUploaderBuilder(this, base);
  }
}
