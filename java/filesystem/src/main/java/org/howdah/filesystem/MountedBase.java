package org.howdah.filesystem;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonPathCapabilities;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathIOException;
import org.apache.hadoop.fs.XAttrSetFlag;
import org.apache.hadoop.fs.impl.PathCapabilitiesSupport;
import org.apache.hadoop.fs.permission.AclEntry;
import org.apache.hadoop.fs.permission.AclStatus;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.security.UserGroupInformation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a mounted file system is, and all that does not concern the content of files: attributes,
 * links, capabilities.
 */
abstract class MountedBase extends FileSystem {
  private static final Logger LOG = LoggerFactory.getLogger(MountedBase.class);
  private static final AtomicBoolean TOLD_OF_USER = new AtomicBoolean();
  private static final AtomicBoolean TOLD_OF_NATIVE = new AtomicBoolean();
  private static final String HOMES = "dfs.user.home.dir.prefix";

  private final String scheme;
  URI uri;
  private final OpenFiles open = new OpenFiles();
  private Path working;
  Settings settings;
  Mount mount;
  Statuses statuses;
  Creation creation;
  Renames renames;
  Contents contents;

  MountedBase(String scheme) {
    this.scheme = scheme;
  }

  @Override
  public void initialize(URI name, Configuration conf) throws IOException {
    super.initialize(name, conf);
    setConf(conf);
    String authority = name.getAuthority();
    uri = URI.create(scheme + "://" + (authority == null ? "/" : authority));
    checkUser();
    settings = new Settings(scheme, conf);
    checkNative();
    Background.allow(settings.threads);
    mount = new Mount(uri, settings);
    Layouts layouts = new Layouts(settings, mount.knownType());
    statuses = new Statuses(uri, mount, settings, layouts);
    creation =
        new Creation(
            mount, count -> statistics.incrementBytesWritten(count), settings, layouts, open);
    renames = new Renames(mount, settings);
    contents = new Contents(settings, conf);
    working = getHomeDirectory();
  }

  @Override
  public void close() throws IOException {
    open.end();
    super.close();
  }

  @Override
  public String getScheme() {
    return scheme;
  }

  @Override
  public URI getUri() {
    return uri;
  }

  /** None: there is nobody to give tokens. */
  @Override
  public String getCanonicalServiceName() {
    return null;
  }

  /** Below the same directory as in HDFS, by HDFS's own key. */
  @Override
  public Path getHomeDirectory() {
    Path usual = super.getHomeDirectory();
    String prefix = getConf().get(HOMES);
    return prefix == null ? usual : makeQualified(new Path(prefix, usual.getName()));
  }

  @Override
  public Path getWorkingDirectory() {
    return working;
  }

  @Override
  public void setWorkingDirectory(Path directory) {
    Path absolute = fixRelativePart(directory);
    checkPath(absolute);
    working = makeQualified(absolute);
  }

  @Override
  protected Path getInitialWorkingDirectory() {
    return working;
  }

  @Override
  @SuppressWarnings("deprecation")
  public long getDefaultBlockSize() {
    return settings.blockSize;
  }

  @Override
  @SuppressWarnings("deprecation")
  public short getDefaultReplication() {
    return 1;
  }

  @Override
  public void setPermission(Path path, FsPermission permission) throws IOException {
    change("chmod", path, located -> Tree.setPermissions(located, permission.toShort()));
  }

  @Override
  public void setOwner(Path path, String user, String group) throws IOException {
    if (user == null && group == null) {
      throw new Refusal("chown " + path + ": neither user nor group is given");
    }
    change("chown", path, located -> Owners.set(located, user, group));
  }

  @Override
  public void setTimes(Path path, long modified, long accessed) throws IOException {
    change("touch", path, located -> contents.setTimes(located, modified, accessed));
  }

  @Override
  public boolean supportsSymlinks() {
    return true;
  }

  @Override
  @SuppressWarnings("deprecation")
  public void createSymlink(Path target, Path link, boolean createParent) throws IOException {
    if (!FileSystem.areSymlinksEnabled()) {
      throw new UnsupportedOperationException("symbolic links are switched off in this Hadoop");
    }
    statistics.incrementWriteOps(1);
    call(
        "link",
        link,
        name -> {
          mount.check();
          java.nio.file.Path located = mount.locate(name);
          if (createParent && located.getParent() != null) {
            creation.makeDirectories(
                located.getParent(), settings.masked(FsPermission.getDirDefault()));
          }
          Files.createSymbolicLink(located, onMachine(target));
          return null;
        });
  }

  /**
   * An absolute target is written as the machine knows it, so that every other program can follow
   * it too.
   */
  private java.nio.file.Path onMachine(Path target) throws IOException {
    URI to = target.toUri();
    if (to.getScheme() != null && !to.getScheme().equals(scheme)) {
      throw new PathIOException(
          target.toString(), "a link can only lead to this file system, " + uri);
    }
    checkPath(target);
    return target.isAbsolute()
        ? mount.locate(target)
        : mount.root().getFileSystem().getPath(to.getPath());
  }

  @Override
  public Path getLinkTarget(Path path) throws IOException {
    return call(
        "readlink",
        path,
        name -> {
          java.nio.file.Path located = mount.locate(name);
          if (!Entry.of(located).isLink()) {
            throw new Refusal("Path " + name + " is not a symbolic link");
          }
          return statuses.target(located);
        });
  }

  @Override
  public void setXAttr(Path path, String name, byte[] value, EnumSet<XAttrSetFlag> flags)
      throws IOException {
    change("setfattr", path, located -> Attributes.set(located, name, value, flags));
  }

  @Override
  public byte[] getXAttr(Path path, String name) throws IOException {
    return call(
        "getfattr",
        path,
        at -> {
          byte[] value = Attributes.get(mount.locateTarget(at), name);
          if (value == null) {
            throw new Refusal("getfattr " + at + ": it has no attribute " + name);
          }
          return value;
        });
  }

  @Override
  public Map<String, byte[]> getXAttrs(Path path) throws IOException {
    return getXAttrs(path, listXAttrs(path));
  }

  @Override
  public Map<String, byte[]> getXAttrs(Path path, List<String> names) throws IOException {
    Map<String, byte[]> found = new LinkedHashMap<>();
    for (String name : names) {
      found.put(name, getXAttr(path, name));
    }
    return found;
  }

  @Override
  public List<String> listXAttrs(Path path) throws IOException {
    return call("getfattr", path, name -> Attributes.list(mount.locateTarget(name)));
  }

  @Override
  public void removeXAttr(Path path, String name) throws IOException {
    change("setfattr", path, located -> Attributes.remove(located, name));
  }

  @Override
  public AclStatus getAclStatus(Path path) throws IOException {
    return call(
        "getfacl",
        path,
        name -> {
          Mount.Found found = mount.find(name);
          return Acls.of(found.located).status(statuses.of(name, found.located, found.entry));
        });
  }

  @Override
  public void setAcl(Path path, List<AclEntry> entries) throws IOException {
    change("setfacl", path, located -> Acls.of(located).replace(entries));
  }

  @Override
  public void modifyAclEntries(Path path, List<AclEntry> entries) throws IOException {
    change("setfacl", path, located -> Acls.of(located).modify(entries));
  }

  @Override
  public void removeAclEntries(Path path, List<AclEntry> entries) throws IOException {
    change("setfacl", path, located -> Acls.of(located).remove(entries));
  }

  @Override
  public void removeDefaultAcl(Path path) throws IOException {
    change("setfacl", path, located -> Acls.of(located).removeDefault());
  }

  @Override
  public void removeAcl(Path path) throws IOException {
    change("setfacl", path, located -> Acls.of(located).removeAll());
  }

  @Override
  public boolean hasPathCapability(Path path, String capability) throws IOException {
    switch (PathCapabilitiesSupport.validatePathCapabilityArgs(makeQualified(path), capability)) {
      case CommonPathCapabilities.FS_APPEND:
      case CommonPathCapabilities.FS_CONCAT:
      case CommonPathCapabilities.FS_MULTIPART_UPLOADER:
      case CommonPathCapabilities.FS_PATHHANDLES:
      case CommonPathCapabilities.FS_PERMISSIONS:
      case CommonPathCapabilities.FS_TRUNCATE:
      case CommonPathCapabilities.BULK_DELETE:
      case CommonPathCapabilities.VIRTUAL_BLOCK_LOCATIONS:
        return true;
      case CommonPathCapabilities.FS_SYMLINKS:
        return FileSystem.areSymlinksEnabled();
      case CommonPathCapabilities.FS_CHECKSUMS:
        return contents.hasChecksums();
      case CommonPathCapabilities.FS_XATTRS:
        return Attributes.areSupported(nearest(path));
      case CommonPathCapabilities.FS_ACLS:
        return Acls.areSupported(nearest(path));
      default:
        return hasOwnCapability(capability) || super.hasPathCapability(path, capability);
    }
  }

  /** What needs JNA, by the name of its key; two have none. */
  private boolean hasOwnCapability(String capability) throws IOException {
    if (capability.equals(settings.name(Key.LAYOUT))) {
      return Layouts.areForFiles(mount.knownType());
    }
    List<String> others =
        Arrays.asList(
            settings.name(Key.PREALLOCATE),
            settings.name(Key.RENAME_NATIVE),
            "fs." + scheme + ".attributes",
            "fs." + scheme + ".quotas");
    return others.contains(capability) && Native.get() != null;
  }

  /** What is there of a path: other file systems may be mounted below the root. */
  private java.nio.file.Path nearest(Path path) throws IOException {
    return call(
        "stat",
        path,
        name -> {
          java.nio.file.Path there = mount.locateTarget(name);
          while (!Entry.isThere(there)) {
            there = there.getParent();
          }
          return there;
        });
  }

  @Override
  public String toString() {
    return uri + (mount == null ? "" : " at " + mount.root());
  }

  // How everything is done

  /** Something on one path, which may throw Java's exceptions. */
  interface Work<T> {
    T on(Path name) throws IOException;
  }

  interface Change {
    void on(java.nio.file.Path located) throws IOException;
  }

  final <T> T call(String operation, Path path, Work<T> work) throws IOException {
    Path name = absolute(path);
    try {
      return work.on(name);
    } catch (NoSuchFileException e) {
      // Where the mount is lost, nothing is found.
      mount.check();
      throw Errors.of(e, operation, name);
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw Errors.of(Errors.declared(e), operation, name);
    }
  }

  final void change(String operation, Path path, Change change) throws IOException {
    statistics.incrementWriteOps(1);
    call(
        operation,
        path,
        name -> {
          mount.check();
          change.on(mount.find(name).located);
          return null;
        });
  }

  final Path absolute(Path path) {
    final Path absolute = fixRelativePart(path);
    checkPath(absolute);
    return absolute.toUri().getScheme() == null ? makeQualified(absolute) : absolute;
  }

  private void checkUser() throws IOException {
    String user = UserGroupInformation.getCurrentUser().getShortUserName();
    String process = System.getProperty("user.name");
    if (user.equals(process)) {
      return;
    }
    String told =
        scheme
            + " acts with the rights of this process's user, "
            + process
            + ", not of the Hadoop user "
            + user;
    if (UserGroupInformation.isSecurityEnabled()) {
      throw new AccessControlException(told + "; run the process as " + user);
    }
    if (TOLD_OF_USER.compareAndSet(false, true)) {
      LOG.warn(told);
    }
  }

  private void checkNative() {
    boolean isAskedFor = settings.preallocate > 0 || settings.renameNative;
    if (isAskedFor && Native.get() == null && TOLD_OF_NATIVE.compareAndSet(false, true)) {
      LOG.warn(
          "{} and {} need JNA, which is not on the class path or cannot be loaded: they do nothing",
          settings.name(Key.PREALLOCATE),
          settings.name(Key.RENAME_NATIVE));
    }
  }
}
