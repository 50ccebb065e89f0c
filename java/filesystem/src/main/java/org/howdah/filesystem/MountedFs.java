package org.howdah.filesystem;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.DelegateToFileSystem;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.MultipartUploaderBuilder;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.XAttrSetFlag;
import org.apache.hadoop.fs.permission.AclEntry;
import org.apache.hadoop.fs.permission.AclStatus;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/** The same file system for {@code FileContext}, which YARN and the job history use. */
abstract class MountedFs extends DelegateToFileSystem {
  private final MountedFileSystem files;

  MountedFs(URI uri, MountedFileSystem files, Configuration conf, String scheme)
      throws IOException, URISyntaxException {
    super(uri, files, conf, scheme, false);
    this.files = files;
  }

  /**
   * Where its parent is to be there, it is not made if it goes; Hadoop's own way only looks before.
   */
  @Override
  public FSDataOutputStream createInternal(
      Path path,
      EnumSet<CreateFlag> flags,
      FsPermission absolute,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress,
      Options.ChecksumOpt checksum,
      boolean createParent)
      throws IOException {
    checkPath(path);
    return files.make(path, flags, files.exactly(absolute, createParent));
  }

  /** In one step, where Hadoop's own way deletes the destination first. */
  @Override
  public void renameInternal(Path source, Path destination, boolean overwrite) throws IOException {
    checkPath(source);
    checkPath(destination);
    files.rename(source, destination, overwrite);
  }

  /**
   * As {@code FileSystem} has it; Hadoop's own way makes all statuses before the first is asked
   * for.
   */
  @Override
  public RemoteIterator<FileStatus> listStatusIterator(Path path) throws IOException {
    checkPath(path);
    return files.listStatusIterator(path);
  }

  /** As {@code FileSystem} has it, where nothing is asked for access control lists. */
  @Override
  public RemoteIterator<LocatedFileStatus> listLocatedStatus(Path path) throws IOException {
    checkPath(path);
    return files.listLocatedStatus(path);
  }

  @Override
  public RemoteIterator<Path> listCorruptFileBlocks(Path path) {
    checkPath(path);
    return files.listCorruptFileBlocks(path);
  }

  @Override
  public void access(Path path, FsAction mode) throws IOException {
    checkPath(path);
    files.access(path, mode);
  }

  @Override
  public MultipartUploaderBuilder<?, ?> createMultipartUploader(Path base) throws IOException {
    checkPath(base);
    return files.createMultipartUploader(base);
  }

  @Override
  public AclStatus getAclStatus(Path path) throws IOException {
    checkPath(path);
    return files.getAclStatus(path);
  }

  @Override
  public void setAcl(Path path, List<AclEntry> entries) throws IOException {
    checkPath(path);
    files.setAcl(path, entries);
  }

  @Override
  public void modifyAclEntries(Path path, List<AclEntry> entries) throws IOException {
    checkPath(path);
    files.modifyAclEntries(path, entries);
  }

  @Override
  public void removeAclEntries(Path path, List<AclEntry> entries) throws IOException {
    checkPath(path);
    files.removeAclEntries(path, entries);
  }

  @Override
  public void removeDefaultAcl(Path path) throws IOException {
    checkPath(path);
    files.removeDefaultAcl(path);
  }

  @Override
  public void removeAcl(Path path) throws IOException {
    checkPath(path);
    files.removeAcl(path);
  }

  @Override
  public void setXAttr(Path path, String name, byte[] value, EnumSet<XAttrSetFlag> flags)
      throws IOException {
    checkPath(path);
    files.setXAttr(path, name, value, flags);
  }

  @Override
  public byte[] getXAttr(Path path, String name) throws IOException {
    checkPath(path);
    return files.getXAttr(path, name);
  }

  @Override
  public Map<String, byte[]> getXAttrs(Path path) throws IOException {
    checkPath(path);
    return files.getXAttrs(path);
  }

  @Override
  public Map<String, byte[]> getXAttrs(Path path, List<String> names) throws IOException {
    checkPath(path);
    return files.getXAttrs(path, names);
  }

  @Override
  public List<String> listXAttrs(Path path) throws IOException {
    checkPath(path);
    return files.listXAttrs(path);
  }

  @Override
  public void removeXAttr(Path path, String name) throws IOException {
    checkPath(path);
    files.removeXAttr(path, name);
  }

  @Override
  public boolean isValidName(String source) {
    // Every name that a directory can hold; the default refuses colons.
    return true;
  }
}
